import { qualified, TABLES } from '../table-names.js';
import type { Table, TableNames } from '../table-names.js';

/**
 * Whose rows a table holds (OWNER-4):
 * - `owner`: a session of an owner sees and writes the rows of that owner, the dispatcher all;
 * - `shared`: the same, and everybody reads versions that are nobody's in particular;
 * - `engine`: nobody's in particular, so that no owner needs them; the dispatcher alone sees them;
 * - `versions`: everybody reads them, which is what the boot check does, and the table's owner writes them, who migrates.
 */
export type RowPolicy = 'owner' | 'shared' | 'engine' | 'versions';

/** By table, so that a table which nobody thought of does not compile. */
export const ROW_POLICIES: Readonly<Record<Table, RowPolicy>> = {
  runs: 'owner',
  stage_runs: 'owner',
  node_visits: 'owner',
  attempts: 'owner',
  jobs: 'owner',
  idempotency_keys: 'owner',
  outbox: 'owner',
  outbox_slots: 'engine',
  definitions: 'engine',
  schema_versions: 'versions',
  steps: 'owner',
  events: 'owner',
  annotations: 'owner',
  log_lines: 'owner',
  audit: 'owner',
  start_rates: 'engine',
  graphs: 'shared',
  approval_rounds: 'owner',
  approval_asks: 'owner',
  approval_decisions: 'owner',
  triggers: 'shared',
};

/** Raised when a policy below changes, so that what stands in a database is replaced by the next `migrate`. */
export const POLICY_VERSION = 1;

/** Kept as the comment of each policy. */
export const POLICY_MARK = `nestjs-workflow-engine row policies ${POLICY_VERSION}`;

export const OWNER_POLICY = 'workflow_owner';
export const DISPATCHER_POLICY = 'workflow_dispatcher';
export const VERSIONS_POLICY = 'workflow_versions';
export const SHARED_POLICY = 'workflow_shared';

/** The setting that says whose session it is; of the transaction, never of the connection. */
export const OWNER_SETTING = 'app.owner_id';

/** Unset and empty are the same: after a transaction that set it, PostgreSQL leaves an empty text behind. */
const IS_OWNERS = `owner_id = NULLIF(current_setting('${OWNER_SETTING}', true), '')`;

interface PolicyText {
  readonly name: string;
  /** What follows `CREATE POLICY name ON table`; `%I` stands for the dispatcher's role. */
  readonly text: string;
}

const OWNERS: PolicyText = { name: OWNER_POLICY, text: `USING (${IS_OWNERS}) WITH CHECK (${IS_OWNERS})` };

const DISPATCHER: PolicyText = { name: DISPATCHER_POLICY, text: 'TO %I USING (true) WITH CHECK (true)' };

/**
 * The policies of a table. Of those that allow, one is enough: for the dispatcher the planner drops the condition altogether,
 * so that its statements cost what they cost without row-level security.
 */
export const POLICIES: Readonly<Record<RowPolicy, readonly PolicyText[]>> = {
  owner: [OWNERS, DISPATCHER],
  shared: [
    OWNERS,
    { name: SHARED_POLICY, text: 'FOR SELECT USING (owner_id IS NULL AND version IS NOT NULL)' },
    DISPATCHER,
  ],
  engine: [DISPATCHER],
  versions: [{ name: VERSIONS_POLICY, text: 'FOR SELECT USING (true)' }],
};

/** A table with its policies, as SQL text needs it. */
export interface GuardedTable {
  /** Quoted and qualified. */
  readonly name: string;
  readonly kind: RowPolicy;
}

export function guardedTables({ schema, prefix }: TableNames): GuardedTable[] {
  return TABLES.map((table) => ({ name: qualified(schema, `${prefix}${table}`), kind: ROW_POLICIES[table] }));
}
