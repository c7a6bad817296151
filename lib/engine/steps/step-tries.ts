import type { LedgerRow } from '../ports/step-store.js';
import type { Replay } from './replay.js';
import type { AnyCall } from './step-call.js';

/** A pause before another try up to this is spent here; for a longer one the stage may suspend. */
export const IN_PROCESS_MS = 5_000;

/** A failure that the stage's retry opened again begins a new budget of tries. */
export const triesBefore = (row: LedgerRow | undefined): number => (!row || row.status === 'failed' ? 0 : row.attempt);

/** The call's next try is far off: it waits in the store. */
export function park(replay: Replay, call: AnyCall, attempt: number): void {
  call.row = call.row ? { ...call.row, attempt, status: 'waiting' } : undefined;
  call.saved = true;
  replay.wait(call);
}
