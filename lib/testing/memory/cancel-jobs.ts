import type { Lease } from '../../engine/ports/work-store.js';
import { putBack, queueJob } from './jobs.js';
import type { MemorySession } from './session.js';

export function finishCancelJob(session: MemorySession, lease: Lease, retryInMs: number | null): boolean {
  const job = session.db.jobs.get(lease.jobId);
  if (job?.kind !== 'cancel' || job.state !== 'claimed' || job.claimToken !== lease.token) return false;
  if (retryInMs === null) session.db.jobs.remove(job);
  else putBack(session, job, retryInMs, job.attempt);
  return true;
}

/** Only the attempt that the cancel met may ask for its hook; one that lost its lease before has nothing to undo here. */
export function addCancelJob(session: MemorySession, lease: Lease, jobId: string, queue: string): void {
  const { db, now } = session;
  const run = db.runs.get(lease.runId);
  const stageRun = db.stageRuns.get(lease.stageRunId);
  if (run === undefined || stageRun?.status !== 'CANCELLED' || stageRun.claimToken !== lease.token) return;
  // A write repeated after its answer was lost.
  if (db.jobs.get(jobId) !== undefined) return;
  queueJob(session, {
    kind: 'cancel',
    run,
    stageRunId: stageRun.id,
    job: { id: jobId, queue, capMs: null },
    runAt: now,
  });
}
