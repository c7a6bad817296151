import type { DecideSettled, ExpiredLease, LeaseLimits, LostRecord } from '../../engine/ports/work-store.js';
import { findFenced } from './fences.js';
import { putBack } from './jobs.js';
import type { JobRecord } from './records.js';
import type { MemorySession } from './session.js';
import { settleRun } from './settlements.js';

export function findExpired(session: MemorySession, limits: LeaseLimits, limit: number): ExpiredLease[] {
  const expired: ExpiredLease[] = [];
  for (const job of session.db.claimedJobs.rows) {
    if (expired.length >= limit) break;
    const reason = whyExpired(session, job, limits);
    const lease = reason && expiredLease(session, job, reason);
    if (lease) expired.push(lease);
  }
  return expired;
}

/**
 * Why a claimed job's lease is over, or undefined while it lasts.
 *
 * A missing heartbeat counts first: after a night without any worker all leases are past the cap too, and none of the
 * stages is at fault. The cap is for bodies that run on and on with a healthy heartbeat (LEASE-4).
 */
export function whyExpired(
  { now }: Pick<MemorySession, 'now'>,
  { startedAt, lockedAt, capMs }: JobRecord,
  limits: LeaseLimits,
): ExpiredLease['reason'] | undefined {
  const cap = limits.capMs === 0 ? Infinity : Math.max(limits.capMs, capMs ?? 0);
  if (lockedAt !== null && now - lockedAt > limits.staleMs) return 'stale';
  if (startedAt !== null && now - startedAt > cap) return 'cap';
  return undefined;
}

export function reap(
  session: MemorySession,
  records: readonly LostRecord[],
  limits: LeaseLimits,
  decide: DecideSettled,
): number {
  let ended = 0;
  for (const record of records) if (reapOne(session, record, limits, decide)) ended++;
  return ended;
}

function reapOne(
  session: MemorySession,
  { expired, outcome, events }: LostRecord,
  limits: LeaseLimits,
  decide: DecideSettled,
): boolean {
  const job = session.db.jobs.get(expired.jobId);
  if (job?.state !== 'claimed' || job.claimToken !== expired.token) return false;
  if (whyExpired(session, job, limits) === undefined) return false;
  if (job.kind === 'cancel') {
    if (outcome.kind === 'lost') putBack(session, job, outcome.delayMs, job.attempt);
    else session.db.jobs.remove(job);
    return true;
  }
  const fenced = findFenced(session, expired);
  if (fenced === undefined) return false;
  const { run, stageRun } = fenced;
  settleRun(session, run, [{ stageRun, outcome, events }], decide);
  // Without a token: the late worker must not take this end for its own. Lost ones are counted where they are put back.
  if (outcome.kind === 'failed') {
    session.db.stageRuns.patch(stageRun, { claimToken: null, losses: stageRun.losses + 1 });
  }
  return true;
}

function expiredLease({ db }: MemorySession, job: JobRecord, reason: ExpiredLease['reason']): ExpiredLease | undefined {
  const stageRun = db.stageRuns.get(job.stageRunId);
  if (stageRun === undefined || job.claimToken === null || job.lockedBy === null) return undefined;
  return {
    jobId: job.id,
    runId: job.runId,
    stageRunId: stageRun.id,
    token: job.claimToken,
    kind: job.kind,
    definitionKey: job.definitionKey,
    node: stageRun.node,
    key: stageRun.key,
    stage: stageRun.stage,
    visit: stageRun.visit,
    attempt: job.kind === 'execute' ? stageRun.attempt : job.attempt,
    losses: stageRun.losses,
    workerId: job.lockedBy,
    reason,
  };
}
