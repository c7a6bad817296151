import type { LinearRecord, RecordVerdict } from '../../engine/ports/work-store.js';
import { findFenced } from './fences.js';
import { handOff } from './hand-offs.js';
import { heldJobOf } from './jobs.js';
import { endAttempt } from './outcomes.js';
import { tell } from './outbox-writes.js';
import { writeBeside } from './recorded-beside.js';
import type { MemorySession } from './session.js';
import { applyTransition } from './transitions.js';

export function recordLinear(session: MemorySession, record: LinearRecord): RecordVerdict {
  const fenced = findFenced(session, record.lease);
  if (fenced === undefined) return { verdict: 'not-fenced' };
  const { run, stageRun } = fenced;
  if (record.beside !== undefined) writeBeside(session, fenced, record.attempt, record.beside);
  const job = heldJobOf(session, stageRun);
  endAttempt(session, stageRun, job, record.outcome);
  tell(session, run.id, record.events);
  if (record.transition === null) return { verdict: 'recorded', handedOff: false, finished: null };

  const finished = applyTransition(session, run, record.transition, { job });
  const moved = job !== null && job.state === 'due' && job.stageRunId !== stageRun.id;
  const handedOff = moved && handOff(session, job, record.handOff);
  return { verdict: 'recorded', handedOff, finished };
}
