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
 * Past the cap is what was running for longer than that. Of a stale lease only the running time counts that its heartbeats
 * prove, from the claim to the last of them: after a night without workers every lease was claimed longer ago than the cap,
 * and no stage is at fault (LEASE-4).
 */
export function whyExpired(
  { now }: Pick<MemorySession, 'now'>,
  { startedAt, lockedAt, capMs }: JobRecord,
  limits: LeaseLimits,
): ExpiredLease['reason'] | undefined {
  if (startedAt === null || lockedAt === null) return undefined;
  const cap = limits.capMs === 0 ? Infinity : Math.max(limits.capMs, capMs ?? 0);
  const stale = now - lockedAt > limits.staleMs;
  if ((stale ? lockedAt : now) - startedAt > cap) return 'cap';
  return stale ? 'stale' : undefined;
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
  // Over for another reason than the reaper saw: a heartbeat came in between, and its outcome is not the one decided.
  if (whyExpired(session, job, limits) !== expired.reason) return false;
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
