import type { Lease, LeaseState } from '../../engine/ports/work-store.js';
import type { MemorySession } from './session.js';

/** Extends leases; answers by job id. */
export function extendLeases(session: MemorySession, leases: readonly Lease[]): Map<string, LeaseState> {
  return new Map(leases.map((lease) => [lease.jobId, extend(session, lease)]));
}

function extend({ db, now }: MemorySession, { jobId, runId, stageRunId, token }: Lease): LeaseState {
  const job = db.jobs.get(jobId);
  if (job?.state === 'claimed' && job.claimToken === token) {
    db.jobs.patch(job, { lockedAt: now });
    return 'held';
  }
  const run = db.runs.get(runId);
  const endedByOthers = run?.status === 'CANCELLED' || run?.status === 'FAILED';
  return endedByOthers || db.stageRuns.get(stageRunId)?.status === 'CANCELLED' ? 'cancelled' : 'lost';
}
