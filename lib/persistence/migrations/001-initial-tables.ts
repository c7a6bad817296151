import type { TableNames } from '../table-names.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * Why the tables look like this:
 * - No foreign keys and no unique indexes beside the keys on hot tables: a foreign key's check locks the run after the
 *   stage, against the lock order; integrity is tested instead.
 * - Payloads are `json`: kept as the text they were, and never looked into by the server.
 * - Free space in the pages (fillfactor) and no index on a status keep updates HOT. `jobs.state` exists so that the due
 *   index needn't mention `locked_at`, which would forbid them.
 * - `jobs` has no statistics on what the claim filters and sorts by: its plan must not change with the backlog
 *   (fault C15).
 */
export const INITIAL_TABLES: WorkflowMigration = {
  version: 1,
  name: 'initial-tables',
  timestamp: 1764288000000,
  statements: (names) => [...runs(names), ...stageRuns(names), ...jobs(names), ...starts(names), ...outbox(names)],
};

function runs({ runs, definitions, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${runs} (
  id uuid PRIMARY KEY,
  definition_id text NOT NULL,
  definition_version int NOT NULL,
  definition_key text NOT NULL,
  status text NOT NULL,
  owner_id text,
  actor json,
  trace text,
  generation int NOT NULL DEFAULT 1,
  priority int NOT NULL DEFAULT 0,
  queue text,
  input json NOT NULL,
  output json,
  awaited boolean NOT NULL DEFAULT false,
  parent_run_id uuid,
  depth smallint NOT NULL DEFAULT 0,
  failure_code text,
  failure_message text,
  failure_params json,
  failed_node text,
  cancel_reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  start_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  deadline_at timestamptz,
  version int NOT NULL DEFAULT 0
) WITH (fillfactor = 80)`,
    // People list an owner's runs, newest first: ids are made in the order of time.
    `CREATE INDEX "${prefix}runs_owner" ON ${runs} (owner_id, id)`,
    // The search for stuck runs walks the open ones in id order, however many have ended.
    `CREATE INDEX "${prefix}runs_open" ON ${runs} (id) WHERE status IN ('PENDING', 'RUNNING')`,
    // Runs with a deadline only: the wake pass asks for the overdue ones.
    `CREATE INDEX "${prefix}runs_deadline" ON ${runs} (deadline_at) WHERE deadline_at IS NOT NULL AND status IN ('PENDING', 'RUNNING')`,
    `CREATE TABLE ${definitions} (
  id text NOT NULL,
  version int NOT NULL,
  fingerprint text NOT NULL,
  structure json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (id, version, fingerprint)
)`,
  ];
}

function stageRuns({ stageRuns, nodeVisits, attempts, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${stageRuns} (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  owner_id text,
  generation int NOT NULL DEFAULT 1,
  node text NOT NULL,
  position int NOT NULL,
  key text NOT NULL,
  stage text NOT NULL,
  visit int NOT NULL DEFAULT 1,
  ordinal int NOT NULL,
  status text NOT NULL,
  attempt int NOT NULL DEFAULT 0,
  budget_from int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  deferrals int NOT NULL DEFAULT 0,
  requeues int NOT NULL DEFAULT 0,
  claim_token uuid,
  worker_id text,
  output json,
  skip_reason text,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  version int NOT NULL DEFAULT 0
) WITH (fillfactor = 80)`,
    `CREATE INDEX "${prefix}stage_runs_run" ON ${stageRuns} (run_id)`,
    // Counters of parallel groups stand on a narrow row of their own: 5,000 branches move them, not the wide run row.
    `CREATE TABLE ${nodeVisits} (
  run_id uuid NOT NULL,
  generation int NOT NULL,
  node text NOT NULL,
  visit int NOT NULL,
  open int NOT NULL,
  PRIMARY KEY (run_id, generation, node, visit)
) WITH (fillfactor = 70)`,
    `CREATE TABLE ${attempts} (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  run_id uuid NOT NULL,
  owner_id text,
  stage_run_id uuid NOT NULL,
  attempt int NOT NULL,
  worker_id text,
  started_at timestamptz,
  ended_at timestamptz NOT NULL DEFAULT now(),
  duration_ms bigint,
  code text NOT NULL,
  message text NOT NULL,
  stack text,
  cause json
)`,
    `CREATE INDEX "${prefix}attempts_run" ON ${attempts} (run_id)`,
  ];
}

function jobs({ jobs, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${jobs} (
  id uuid PRIMARY KEY,
  kind smallint NOT NULL DEFAULT 0,
  run_id uuid NOT NULL,
  stage_run_id uuid NOT NULL,
  owner_id text,
  definition_key text NOT NULL,
  queue text NOT NULL,
  priority int NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL DEFAULT now(),
  state smallint NOT NULL DEFAULT 0,
  locked_by text,
  locked_at timestamptz,
  started_at timestamptz,
  claim_token uuid,
  attempt int NOT NULL DEFAULT 0,
  cap_ms bigint,
  sent_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70)`,
    `CREATE INDEX "${prefix}jobs_due" ON ${jobs} (priority DESC, run_at, run_id) WHERE state = 0`,
    `CREATE INDEX "${prefix}jobs_claimed" ON ${jobs} (id) WHERE state = 1`,
    // Future work stands apart: 100,000 delayed jobs in front of the due ones made an empty claim walk 774 pages.
    `CREATE INDEX "${prefix}jobs_delayed" ON ${jobs} (run_at) WHERE state = 2`,
    // Empty without an external transport, so it costs the worker's claims nothing. Work that is sent is not due: it would stand
    // in front of what is to be sent.
    `CREATE INDEX "${prefix}jobs_sent" ON ${jobs} (sent_at) WHERE state = 3`,
    `CREATE INDEX "${prefix}jobs_run" ON ${jobs} (run_id)`,
    ...['state', 'run_at', 'priority', 'run_id'].map(
      (column) => `ALTER TABLE ${jobs} ALTER COLUMN ${column} SET STATISTICS 0`,
    ),
  ];
}

function starts({ idempotencyKeys, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${idempotencyKeys} (
  digest bytea PRIMARY KEY,
  scope text NOT NULL DEFAULT 'start',
  run_id uuid NOT NULL,
  owner_id text,
  input_digest bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
)`,
    `CREATE INDEX "${prefix}idempotency_keys_expires" ON ${idempotencyKeys} (expires_at)`,
  ];
}

function outbox({ outbox, outboxSlots, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${outbox} (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL,
  owner_id text,
  slot smallint NOT NULL,
  events json NOT NULL,
  delivered smallint NOT NULL DEFAULT 0,
  attempts smallint NOT NULL DEFAULT 0,
  state smallint NOT NULL DEFAULT 0,
  next_at timestamptz,
  error text,
  created_at timestamptz NOT NULL DEFAULT now()
)`,
    `CREATE INDEX "${prefix}outbox_slot" ON ${outbox} (slot, id) WHERE state = 0`,
    // The few events that wait for a later try: they hold back their runs.
    `CREATE INDEX "${prefix}outbox_later" ON ${outbox} (next_at) WHERE state = 0 AND next_at IS NOT NULL`,
    `CREATE TABLE ${outboxSlots} (
  slot smallint PRIMARY KEY,
  locked_by text,
  locked_until timestamptz,
  heard_at timestamptz
)`,
    `INSERT INTO ${outboxSlots} (slot) SELECT generate_series(0, 15)`,
  ];
}
