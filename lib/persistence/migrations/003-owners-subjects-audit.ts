import type { TableNames } from '../table-names.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * What many tenants on one database need: subjects of runs, a record of what operators asked for, starts counted against a rate.
 *
 * Columns come without defaults that rewrite a table; an older process of a rolling deploy goes on inserting without them.
 */
export const OWNERS_SUBJECTS_AUDIT: WorkflowMigration = {
  version: 3,
  name: 'owners-subjects-audit',
  timestamp: 1769904000000,
  statements: (names) => [...runs(names), ...audit(names), ...startRates(names)],
};

function runs({ runs, nodeVisits, prefix }: TableNames): string[] {
  return [
    `ALTER TABLE ${runs}
  ADD COLUMN subject_type text,
  ADD COLUMN subject_id text,
  ADD COLUMN subject_seen boolean NOT NULL DEFAULT false,
  ADD COLUMN touches int NOT NULL DEFAULT 0,
  ADD COLUMN terminated boolean NOT NULL DEFAULT false`,
    `CREATE INDEX "${prefix}runs_subject" ON ${runs} (owner_id, subject_type, subject_id, id) WHERE subject_id IS NOT NULL`,
    // Row-level security looks at each table by itself.
    `ALTER TABLE ${nodeVisits} ADD COLUMN owner_id text`,
  ];
}

function audit({ audit, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${audit} (
  id uuid PRIMARY KEY,
  owner_id text,
  run_id uuid,
  action text NOT NULL,
  ability text,
  actor json,
  allowed boolean NOT NULL,
  reason text,
  source text NOT NULL,
  details json,
  created_at timestamptz NOT NULL DEFAULT now()
)`,
    `CREATE INDEX "${prefix}audit_owner" ON ${audit} (owner_id, id)`,
    `CREATE INDEX "${prefix}audit_run" ON ${audit} (run_id, id) WHERE run_id IS NOT NULL`,
  ];
}

/** A row a minute and definition that has a rate, gone after some minutes: counting runs would need an index on all of them. */
function startRates({ startRates }: TableNames): string[] {
  return [
    `CREATE TABLE ${startRates} (
  definition_id text NOT NULL,
  minute timestamptz NOT NULL,
  starts int NOT NULL,
  PRIMARY KEY (definition_id, minute)
) WITH (fillfactor = 50)`,
  ];
}
