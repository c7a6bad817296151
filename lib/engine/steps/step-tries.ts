import type { LedgerRow, OpenWait, StepKind } from '../ports/step-store.js';
import type { Replay } from './replay.js';
import type { AnyCall } from './step-call.js';
import { noWait } from './wait-plan.js';

/** A pause before another try up to this is spent here; for a longer one the stage may suspend. */
const IN_PROCESS_MS = 5_000;

/** A failure that the stage's retry opened again begins a new budget of tries. */
export const triesBefore = (row: LedgerRow | undefined): number => (!row || row.status === 'failed' ? 0 : row.attempt);

/** How a call waits between two tries: due by itself, as it stands already. */
export const betweenTries = (key: string, kind: StepKind): OpenWait => ({ ...noWait(key, kind), dueIfNew: true });

/** The pause before the next try, its `again` written. False: not here; the call waits in the store, or the attempt is over. */
export async function mayTryAgain(replay: Replay, call: AnyCall, attempt: number, delayMs: number): Promise<boolean> {
  if (replay.over) return false;
  if (delayMs > IN_PROCESS_MS) {
    call.row = call.row ? { ...call.row, attempt, status: 'waiting' } : undefined;
    call.saved = true;
    replay.wait(call);
    return false;
  }
  await replay.host.pause(delayMs);
  return !replay.over;
}
