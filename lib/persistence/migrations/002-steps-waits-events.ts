import type { TableNames } from '../table-names.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * The ledger of steps, which holds the waits too, events, and what bodies note down.
 *
 * - A wait is a row of the ledger that is `open`. All indexes but two look at open rows only: the ledger of what is done may
 *   grow, what is due is found as fast. `open` stands beside `status`, and no index mentions what a step's begin and
 *   end change, so that both stay HOT.
 * - Columns come to old tables with constant defaults: no table is rewritten, and an older process of a rolling deploy goes
 *   on inserting without them.
 */
export const STEPS_WAITS_EVENTS: WorkflowMigration = {
  version: 2,
  name: 'steps-waits-events',
  timestamp: 1767225600000,
  statements: (names) => [...steps(names), ...events(names), ...notes(names), ...stageRuns(names), ...runs(names)],
};

function steps({ steps, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${steps} (
  stage_run_id uuid NOT NULL,
  key text NOT NULL,
  run_id uuid NOT NULL,
  owner_id text,
  kind text NOT NULL,
  status text NOT NULL,
  open boolean NOT NULL DEFAULT false,
  seq int,
  attempt int NOT NULL DEFAULT 0,
  result json,
  failure json,
  timed_out boolean NOT NULL DEFAULT false,
  reopened boolean NOT NULL DEFAULT false,
  token uuid,
  lease_until timestamptz,
  due_at timestamptz,
  expires_at timestamptz,
  event_key text,
  subject_type text,
  subject_id text,
  condition text,
  epoch int NOT NULL DEFAULT 0,
  checked boolean NOT NULL DEFAULT false,
  event_id uuid,
  child_run_id uuid,
  state json,
  created_at timestamptz NOT NULL DEFAULT now(),
  fired_at timestamptz,
  PRIMARY KEY (stage_run_id, key)
) WITH (fillfactor = 70)`,
    // Two for the same question: an event's limit is looked at only after what lies there for it was matched.
    `CREATE INDEX "${prefix}steps_due" ON ${steps} (due_at) WHERE open AND kind <> 'event'`,
    `CREATE INDEX "${prefix}steps_event_due" ON ${steps} (due_at) WHERE open AND kind = 'event'`,
    // 100,000 runs may wait for one key, each with a subject of its own: an event finds the few that it is for.
    `CREATE INDEX "${prefix}steps_event" ON ${steps} (event_key, owner_id, subject_id, run_id) WHERE open AND kind = 'event'`,
    // A run gets an event once. Set where `open` changes too, so it costs no update of its own.
    `CREATE INDEX "${prefix}steps_event_id" ON ${steps} (event_id, run_id) WHERE event_id IS NOT NULL`,
    `CREATE INDEX "${prefix}steps_unchecked" ON ${steps} (created_at) WHERE open AND kind = 'event' AND NOT checked`,
    `CREATE INDEX "${prefix}steps_run" ON ${steps} (run_id) WHERE open`,
  ];
}

function events({ events, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${events} (
  id uuid PRIMARY KEY,
  owner_id text,
  run_id uuid,
  key text NOT NULL,
  subject_type text,
  subject_id text,
  payload json,
  message_digest bytea,
  matched boolean NOT NULL DEFAULT false,
  taken boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
)`,
    `CREATE INDEX "${prefix}events_key" ON ${events} (key, owner_id, id) WHERE run_id IS NULL`,
    // A wait with a subject, among many events of its key.
    `CREATE INDEX "${prefix}events_subject" ON ${events} (key, owner_id, subject_id, id) WHERE run_id IS NULL AND subject_id IS NOT NULL`,
    `CREATE INDEX "${prefix}events_run" ON ${events} (run_id, key, id) WHERE run_id IS NOT NULL AND NOT taken`,
    `CREATE UNIQUE INDEX "${prefix}events_message" ON ${events} (message_digest) WHERE message_digest IS NOT NULL`,
    `CREATE INDEX "${prefix}events_unmatched" ON ${events} (created_at) WHERE NOT matched AND run_id IS NULL`,
    `CREATE INDEX "${prefix}events_created" ON ${events} (created_at)`,
  ];
}

function notes({ annotations, logLines, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${annotations} (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  stage_run_id uuid,
  owner_id text,
  key text NOT NULL,
  value json NOT NULL,
  scope text NOT NULL,
  actor json,
  attempt int,
  created_at timestamptz NOT NULL DEFAULT now()
)`,
    `CREATE INDEX "${prefix}annotations_run" ON ${annotations} (run_id, id)`,
    `CREATE TABLE ${logLines} (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  stage_run_id uuid NOT NULL,
  owner_id text,
  attempt int NOT NULL,
  level text NOT NULL,
  message text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
)`,
    `CREATE INDEX "${prefix}log_lines_run" ON ${logLines} (run_id, id)`,
  ];
}

function stageRuns({ stageRuns, idempotencyKeys }: TableNames): string[] {
  return [
    `ALTER TABLE ${stageRuns}
  ADD COLUMN queue text,
  ADD COLUMN cap_ms bigint,
  ADD COLUMN resumed boolean NOT NULL DEFAULT false,
  ADD COLUMN resumes int NOT NULL DEFAULT 0,
  ADD COLUMN progress json`,
    `ALTER TABLE ${idempotencyKeys} ADD COLUMN result json`,
  ];
}

function runs({ runs, prefix }: TableNames): string[] {
  return [
    `ALTER TABLE ${runs}
  ADD COLUMN parent_stage_run_id uuid,
  ADD COLUMN parent_step text,
  ADD COLUMN parent_waits boolean NOT NULL DEFAULT false,
  ADD COLUMN parent_told boolean NOT NULL DEFAULT false,
  ADD COLUMN cancel_asked boolean NOT NULL DEFAULT false`,
    `CREATE INDEX "${prefix}runs_children" ON ${runs} (parent_run_id) WHERE parent_run_id IS NOT NULL`,
    // Ended children whose parents don't know, and open ones whose parents ended: both empty but for moments.
    `CREATE INDEX "${prefix}runs_child_ended" ON ${runs} (id) WHERE parent_waits AND NOT parent_told AND status IN ('COMPLETED', 'FAILED', 'CANCELLED')`,
    `CREATE INDEX "${prefix}runs_orphans" ON ${runs} (id) WHERE cancel_asked AND status IN ('PENDING', 'RUNNING')`,
  ];
}
