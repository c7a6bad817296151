import type { LedgerRow, StepLease } from '../../engine/ports/step-store.js';
import { stepKey } from './memory-database.js';
import type { MemorySession } from './session.js';
import type { StepRecord } from './step-records.js';

/** Rows with a place first, in order; then the others in the order in which they came. */
export function readLedger(session: MemorySession, stageRunIds: readonly string[]): LedgerRow[] {
  const rows = stageRunIds.flatMap((id) => session.db.stepsOf.of(id));
  return rows.sort(compareOutcomes).map((row) => ledgerRow(session, row));
}

export const compareOutcomes = (a: StepRecord, b: StepRecord): number =>
  nullsLast(a.seq, b.seq) || nullsLast(a.firedAt, b.firedAt) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

function nullsLast(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a - b;
}

const ledgerRow = ({ now }: MemorySession, row: StepRecord): LedgerRow => ({
  stageRunId: row.stageRunId,
  key: row.key,
  kind: row.kind,
  status: row.status,
  seq: row.seq,
  attempt: row.attempt,
  result: row.result,
  failure: row.failure,
  timedOut: row.timedOut,
  reopened: row.reopened,
  token: row.token,
  leaseInMs: row.status === 'running' && row.leaseUntil !== null ? row.leaseUntil - now : null,
  expiresInMs: row.expiresAt === null ? null : row.expiresAt - now,
  childRunId: row.childRunId,
  state: row.state,
});

/** Extends leases of step bodies that run; those that somebody else holds now are passed over (STEP-6). */
export function extendSteps({ db, now }: MemorySession, leases: readonly StepLease[]): void {
  for (const { stageRunId, key, token, leaseMs } of leases) {
    const row = db.steps.get(stepKey(stageRunId, key));
    if (row?.status === 'running' && row.token === token) db.steps.patch(row, { leaseUntil: now + leaseMs });
  }
}

/** It has come to an end that the body gets; a reopened failure is run again. */
export const hasOutcome = ({ status, reopened }: StepRecord): boolean =>
  status === 'completed' || (status === 'failed' && !reopened);

/** Another body of this step has a live lease. */
export const isHeldByAnother = ({ now }: MemorySession, row: StepRecord, token: string): boolean =>
  row.status === 'running' && row.token !== token && row.leaseUntil !== null && row.leaseUntil > now;

/** What a row has before anything is known of it, but for the names that it goes by. */
export const NEW_STEP = {
  seq: null,
  attempt: 0,
  result: null,
  failure: null,
  timedOut: false,
  reopened: false,
  token: null,
  leaseUntil: null,
  dueAt: null,
  expiresAt: null,
  eventKey: null,
  subjectType: null,
  subjectId: null,
  where: null,
  epoch: 0,
  checked: false,
  eventId: null,
  childRunId: null,
  state: null,
  firedAt: null,
} as const satisfies Partial<StepRecord>;
