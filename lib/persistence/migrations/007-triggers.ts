import type { TableNames } from '../table-names.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * What starts graphs by itself: triggers in force, from where an event came, and what a run was started by.
 *
 * Nobody and an owner are told apart by an empty text, which is no owner's id: unique indexes take two nulls for different before
 * PostgreSQL 15. The index of schedules holds those alone that have an instant to come.
 */
export const TRIGGERS: WorkflowMigration = {
  version: 7,
  name: 'triggers',
  timestamp: 1774915200000,
  statements: (names) => [...triggers(names), ...origins(names)],
};

function triggers({ triggers, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${triggers} (
  id uuid PRIMARY KEY,
  owner_id text,
  definition_id text NOT NULL,
  definition_version int NOT NULL,
  trigger_id text NOT NULL,
  type text NOT NULL,
  spec json NOT NULL,
  fingerprint text NOT NULL,
  event_key text,
  status text NOT NULL DEFAULT 'active',
  last_at timestamptz,
  next_at timestamptz,
  locked_until timestamptz,
  last_run_id uuid,
  last_outcome text,
  last_error text,
  started int NOT NULL DEFAULT 0,
  passed_over int NOT NULL DEFAULT 0,
  version int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80)`,
    `CREATE UNIQUE INDEX "${prefix}triggers_name" ON ${triggers} (definition_id, coalesce(owner_id, ''), trigger_id)`,
    `CREATE INDEX "${prefix}triggers_owner" ON ${triggers} (owner_id, id)`,
    `CREATE INDEX "${prefix}triggers_due" ON ${triggers} (next_at) WHERE next_at IS NOT NULL`,
    `CREATE INDEX "${prefix}triggers_event" ON ${triggers} (event_key, id) WHERE event_key IS NOT NULL AND status = 'active'`,
  ];
}

function origins({ runs, events }: TableNames): string[] {
  return [`ALTER TABLE ${runs} ADD COLUMN origin json`, `ALTER TABLE ${events} ADD COLUMN source json`];
}
