import type { LedgerRow, OpenWait, StepOutcome } from '../ports/step-store.js';
import type { AnyCall } from './step-call.js';
import { LEASE_KEY } from './step-key.js';
import { noWait } from './wait-plan.js';

/** An outcome that the body gets. */
export type Settled = Exclude<StepOutcome, { kind: 'again' }>;

/** The row of a call as this attempt has written it. */
export function settledRow(call: AnyCall, outcome: Settled, seq: number): LedgerRow {
  const settled = { ...(call.row ?? emptyRow(call)), seq, timedOut: false, reopened: false };
  return outcome.kind === 'completed'
    ? { ...settled, status: 'completed', result: outcome.result, failure: null }
    : { ...settled, status: 'failed', result: null, failure: outcome.failure };
}

/** The wait for a body of the same stage run that runs elsewhere. */
export const leaseWait = (inMs: number, epoch: number): OpenWait => ({
  ...noWait(LEASE_KEY, 'lease'),
  due: { inMs: Math.max(0, inMs) },
  epoch,
});

function emptyRow({ plan }: AnyCall): LedgerRow {
  return {
    stageRunId: '',
    key: plan.key,
    kind: plan.kind,
    status: 'running',
    seq: null,
    attempt: 0,
    result: null,
    failure: null,
    timedOut: false,
    reopened: false,
    token: null,
    leaseInMs: null,
    expiresInMs: null,
    childRunId: null,
    state: null,
  };
}
