import type { LinearRecord } from '../../engine/ports/work-store.js';
import { hold } from './jobs.js';
import { compareJobs } from './memory-database.js';
import { stageStarted, tell } from './outbox-writes.js';
import type { JobRecord } from './records.js';
import type { MemorySession } from './session.js';

/**
 * Gives the one stage run that follows to the worker that ended the stage before it, unless another due job stands before
 * it in the queues that this worker serves.
 *
 * @param job the job row that was moved to the next stage run, due
 */
export function handOff(session: MemorySession, job: JobRecord, offer: LinearRecord['handOff']): boolean {
  const { db } = session;
  const stageRun = db.stageRuns.get(job.stageRunId);
  if (offer === null || stageRun === undefined) return false;
  const serves = (queue: string): boolean => offer.queues === null || offer.queues.includes(queue);
  if (!serves(job.queue)) return false;
  for (const other of db.dueJobs.rows) {
    if (compareJobs(other, job) >= 0) break;
    if (serves(other.queue)) return false;
  }
  hold(session, job, stageRun, offer);
  tell(session, job.runId, [stageStarted(stageRun)]);
  return true;
}
