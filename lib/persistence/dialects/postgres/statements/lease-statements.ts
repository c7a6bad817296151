import type { ExpiredLease, Lease, LeaseState } from '../../../../engine/ports/index.js';
import type { RunStatus } from '../../../../engine/state/statuses.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { CANCEL, CLAIMED, clock } from '../sql.js';
import { overLease, pastCap } from './over-lease.js';

interface LeaseRow {
  jid: string;
  rid: string;
  sid: string;
  token: string;
}
const leaseRows = new RowSet<LeaseRow>({ jid: 'uuid', rid: 'uuid', sid: 'uuid', token: 'uuid' });

export interface ExtendedRow {
  id: string;
  extended: boolean;
  mine: boolean | null;
  run_status: RunStatus | null;
  /** The stage run alone was cancelled, its run goes on. */
  left: boolean;
}

/**
 * The heartbeat: one statement for all leases of a worker. SKIP LOCKED, so a row that somebody holds isn't extended this
 * time; that is no loss: only a plain read that shows another token, or none, is (LEASE-5). $1 offset ms.
 */
export function extendLeases(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'extend-leases',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${leaseRows.source('d', 2)}),
    lk AS MATERIALIZED (
      SELECT j.id FROM ${t.jobs} j JOIN d ON d.jid = j.id AND d.token = j.claim_token WHERE j.state = ${CLAIMED} FOR UPDATE OF j SKIP LOCKED),
    u AS (UPDATE ${t.jobs} j SET locked_at = ${now} FROM lk WHERE j.id = lk.id RETURNING j.id)
    SELECT d.jid AS id, u.id IS NOT NULL AS extended, j.claim_token = d.token AND j.state = ${CLAIMED} AS mine, r.status AS run_status,
           j.id IS NULL AND EXISTS (SELECT 1 FROM ${t.stageRuns} s WHERE s.id = d.sid AND s.status = 'CANCELLED') AS left
      FROM d LEFT JOIN u ON u.id = d.jid LEFT JOIN ${t.jobs} j ON j.id = d.jid LEFT JOIN ${t.runs} r ON r.id = d.rid`,
  };
}

export const leaseValues = (offsetMs: number, leases: readonly Lease[]): unknown[] => [
  offsetMs,
  ...leaseRows.values(
    leases.map(({ jobId, runId, stageRunId, token }) => ({ jid: jobId, rid: runId, sid: stageRunId, token })),
  ),
];

export function leaseState({ extended, mine, run_status, left }: ExtendedRow): LeaseState {
  if (extended || mine) return 'held';
  return left || run_status === 'CANCELLED' || run_status === 'FAILED' ? 'cancelled' : 'lost';
}

export interface ExpiredRow {
  job_id: string;
  run_id: string;
  stage_run_id: string;
  token: string;
  kind: number;
  definition_key: string;
  node: string;
  key: string;
  stage: string;
  visit: number;
  attempt: number;
  losses: number;
  worker_id: string;
  capped: boolean;
}

/** Claimed jobs past their lease, through the index of claimed jobs: as many as workers hold. $1 offset, $2 stale, $3 cap ms, $4 limit. */
export function findExpired(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'find-expired',
    text: `
    SELECT j.id AS job_id, j.run_id, j.stage_run_id, j.claim_token AS token, j.kind, j.definition_key, s.node, s.key, s.stage, s.visit,
           CASE WHEN j.kind = ${CANCEL} THEN j.attempt ELSE s.attempt END AS attempt, s.losses, j.locked_by AS worker_id,
           ${pastCap(now, 'j')} AS capped
      FROM ${t.jobs} j JOIN ${t.stageRuns} s ON s.id = j.stage_run_id
     WHERE j.state = ${CLAIMED} AND ${overLease(now, 'j')}
     ORDER BY j.locked_at LIMIT $4`,
  };
}

export function expiredLease(row: ExpiredRow): ExpiredLease {
  return {
    jobId: row.job_id,
    runId: row.run_id,
    stageRunId: row.stage_run_id,
    token: row.token,
    kind: row.kind === CANCEL ? 'cancel' : 'execute',
    definitionKey: row.definition_key,
    node: row.node,
    key: row.key,
    stage: row.stage,
    visit: row.visit,
    attempt: row.attempt,
    losses: row.losses,
    workerId: row.worker_id,
    reason: row.capped ? 'cap' : 'stale',
  };
}

/** What became of attempts whose record was not fenced. */
export function readFences(t: TableNames): Statement {
  return {
    name: 'read-fences',
    text: `SELECT s.id, s.status, s.claim_token AS token, r.status AS run_status FROM ${t.stageRuns} s JOIN ${t.runs} r ON r.id = s.run_id WHERE s.id = ANY ($1::uuid[])`,
  };
}
