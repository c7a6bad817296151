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

/** Nothing where the stage run isn't CANCELLED, where its run was terminated (CANCEL-4), or where such a job waits already: a write may be repeated. */
export function addCancelJob(session: MemorySession, lease: Lease, jobId: string, queue: string): void {
  const { db } = session;
  const run = db.runs.get(lease.runId);
  const stageRun = db.stageRuns.get(lease.stageRunId);
  if (run === undefined || run.terminated || stageRun?.status !== 'CANCELLED') return;
  const waits = db.jobsOf
    .of(run.id)
    .some((job) => job.kind === 'cancel' && job.stageRunId === stageRun.id && job.state !== 'claimed');
  if (waits) return;
  queueJob(session, { kind: 'cancel', run, stageRunId: stageRun.id, job: { id: jobId, queue, capMs: null } });
}
