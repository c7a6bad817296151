import type { SubjectName } from '../../engine/ports/step-store.js';
import type { Touched } from '../../engine/ports/subject-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import type { MemorySession } from './session.js';
import { endWait, isAbandoned } from './waits.js';

/** A subject changed: polls of this owner's open runs about it look again (WAIT-1). */
export function touch(session: MemorySession, { type, id }: SubjectName, ownerId: string | null): Touched {
  const { db } = session;
  const runs = [...db.runs.all()].filter(
    ({ subject, ownerId: owner, status }) =>
      owner === ownerId && subject?.type === type && subject.id === id && !isTerminalRun(status),
  );
  let [polls, resumed] = [0, 0];
  for (const run of runs.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    db.runs.patch(run, { touches: run.touches + 1 });
    if (run.status !== 'RUNNING') continue;
    for (const row of db.waitsOf.of(run.id)) {
      if (row.kind !== 'poll' || isAbandoned(session, row)) continue;
      polls += 1;
      if (endWait(session, row, { status: 'ready' })) resumed += 1;
    }
  }
  return { runs: runs.length, polls, resumed };
}
