import type { RecordedBeside } from '../../engine/ports/work-store.js';
import type { FencedAttempt } from './fences.js';
import { stepKey } from './memory-database.js';
import { writeNotes } from './notes.js';
import type { MemorySession } from './session.js';
import { cancelWaits } from './waits.js';

/** What is written with an outcome that is recorded, in the same call. */
export function writeBeside(
  session: MemorySession,
  fenced: FencedAttempt,
  attempt: number,
  { cancelWaits: movesOn, reopen, freeSteps, notes }: RecordedBeside,
): void {
  const { db } = session;
  const { id, claimToken } = fenced.stageRun;
  if (movesOn) cancelWaits(session, id);
  for (const key of reopen) {
    const row = db.steps.get(stepKey(id, key));
    if (row?.status === 'failed') db.steps.patch(row, { reopened: true });
  }
  if (freeSteps) {
    for (const row of db.stepsOf.of(id)) {
      if (row.status !== 'running' || row.token !== claimToken) continue;
      db.steps.patch(row, { status: 'ready', leaseUntil: null });
    }
  }
  if (notes !== null) writeNotes(session, fenced, attempt, notes);
}
