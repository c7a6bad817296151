import type { LedgerRow, StepLease } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, milliseconds, sameOwner } from '../sql.js';

/** Ledgers of stage runs, columns named as `LedgerRow` names them. By the key's index. $1 offset ms, $2 stage run ids. */
export function readLedger(t: TableNames): Statement {
  const inMs = (instant: string): string => `(extract(epoch FROM ${instant} - ${clock('$1')}) * 1000)::float8`;
  return {
    name: 'read-ledger',
    text: `
    WITH g AS MATERIALIZED (SELECT id, owner_id FROM ${t.stageRuns} WHERE id = ANY ($2::uuid[]))
    SELECT s.stage_run_id AS "stageRunId", s.key, s.kind, s.status, s.seq, s.attempt, s.result::text AS result, s.failure::text AS failure,
           s.timed_out AS "timedOut", s.reopened, s.token, CASE WHEN s.status = 'running' THEN ${inMs('s.lease_until')} END AS "leaseInMs",
           ${inMs('s.expires_at')} AS "expiresInMs", s.child_run_id AS "childRunId", s.state::text AS state
      FROM ${t.steps} s JOIN g ON g.id = s.stage_run_id AND ${sameOwner('g', 's')} WHERE s.stage_run_id = ANY ($2::uuid[]) ORDER BY s.seq, s.fired_at, s.key`,
  };
}

export type LedgerAnswer = LedgerRow;

interface LeaseRow {
  sid: string;
  key: string;
  token: string;
  lease: number;
}
const leaseRows = new RowSet<LeaseRow>({ sid: 'uuid', key: 'text', token: 'uuid', lease: 'float8' });

/** The heartbeat of step bodies. A row that somebody holds is extended the next time. HOT: no index knows of leases. $1 offset ms. */
export function extendSteps(t: TableNames): Statement {
  return {
    name: 'extend-steps',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${leaseRows.source('d', 2)}),
    lk AS MATERIALIZED (
      SELECT s.stage_run_id, s.key, d.lease FROM d JOIN ${t.steps} s ON s.stage_run_id = d.sid AND s.key = d.key
       WHERE s.status = 'running' AND s.token = d.token FOR NO KEY UPDATE OF s SKIP LOCKED),
    up AS (
      UPDATE ${t.steps} s SET lease_until = ${clock('$1')} + ${milliseconds('lk.lease')} FROM lk WHERE s.stage_run_id = lk.stage_run_id AND s.key = lk.key RETURNING 1)
    SELECT count(*)::int AS extended FROM up`,
  };
}

export const stepLeaseValues = (offsetMs: number, leases: readonly StepLease[]): unknown[] => [
  offsetMs,
  ...leaseRows.values(
    leases.map(({ stageRunId, key, token, leaseMs }) => ({ sid: stageRunId, key, token, lease: leaseMs })),
  ),
];

/** Results kept under effect keys, for their owner. $1 digests, $2 owner. */
export function readEffects(t: TableNames): Statement {
  return {
    name: 'read-effects',
    text: `SELECT encode(digest, 'hex') AS digest, result::text AS result FROM ${t.idempotencyKeys} WHERE digest = ANY ($1::bytea[]) AND scope = 'effect' AND owner_id IS NOT DISTINCT FROM $2::text AND result IS NOT NULL`,
  };
}

export interface EffectRow {
  digest: string;
  result: string;
}
