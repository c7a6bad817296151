import type { TableNames } from '../table-names.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * Rounds of approval, who is asked in them, and what they answered.
 *
 * No foreign keys: all of it is written under the lock of its run. That a visit has one round, and a seat one decision that stands, the
 * unique indexes say too.
 */
export const APPROVALS: WorkflowMigration = {
  version: 6,
  name: 'approvals',
  timestamp: 1774828800000,
  statements: (names) => [...rounds(names), ...asks(names), ...decisions(names)],
};

function rounds({ approvalRounds, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${approvalRounds} (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  stage_run_id uuid NOT NULL,
  owner_id text,
  budget int NOT NULL,
  node text NOT NULL,
  status text NOT NULL DEFAULT 'open',
  stage int NOT NULL DEFAULT 0,
  terms json NOT NULL,
  requester text,
  opened_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  ended_at timestamptz,
  ended_by text,
  end_reason text,
  reminded_at timestamptz
)`,
    `CREATE UNIQUE INDEX "${prefix}approval_rounds_visit" ON ${approvalRounds} (stage_run_id, budget)`,
    `CREATE INDEX "${prefix}approval_rounds_run" ON ${approvalRounds} (run_id) WHERE status = 'open'`,
  ];
}

function asks({ approvalAsks, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${approvalAsks} (
  round_id uuid NOT NULL,
  stage int NOT NULL,
  approver text NOT NULL,
  run_id uuid NOT NULL,
  owner_id text,
  place int NOT NULL,
  groups json NOT NULL,
  weight float8 NOT NULL,
  holder text NOT NULL,
  path json NOT NULL,
  open boolean NOT NULL,
  PRIMARY KEY (round_id, stage, approver)
)`,
    // An inbox: newest rounds first. Nobody holds two open seats of a round.
    `CREATE INDEX "${prefix}approval_asks_holder" ON ${approvalAsks} (holder, owner_id, round_id) WHERE open`,
  ];
}

function decisions({ approvalDecisions, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${approvalDecisions} (
  round_id uuid NOT NULL,
  id text NOT NULL,
  run_id uuid NOT NULL,
  owner_id text,
  nr bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stage int NOT NULL,
  approver text NOT NULL,
  decided_by text NOT NULL,
  answer text NOT NULL,
  reason text,
  comment text,
  withdrawn boolean NOT NULL DEFAULT false,
  decided_at timestamptz NOT NULL DEFAULT now()
)`,
    // A second answer for a seat can't be stored while the first one stands, nor one under the same id (fault I2). Of one owner: what
    // another one writes is in nobody's way, as a session of the seat's owner could not even see it.
    `CREATE UNIQUE INDEX "${prefix}approval_decisions_id" ON ${approvalDecisions} (round_id, id, coalesce(owner_id, ''))`,
    `CREATE UNIQUE INDEX "${prefix}approval_decisions_seat" ON ${approvalDecisions} (round_id, stage, approver, coalesce(owner_id, '')) WHERE NOT withdrawn`,
  ];
}
