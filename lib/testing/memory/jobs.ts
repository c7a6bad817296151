import type { NewJob } from '../../engine/state/rows.js';
import type { JobRecord, RunRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

export interface QueuedJob {
  readonly kind: JobRecord['kind'];
  readonly run: RunRecord;
  readonly stageRunId: string;
  readonly job: NewJob;
  /** Waits for the start of its run. */
  readonly delayed?: boolean;
}

const UNLOCKED = { lockedBy: null, lockedAt: null, startedAt: null, claimToken: null } as const;

/** Queues a job where its run stands; one with a delay where its time does, which counts from now, or from the run's start. */
export function queueJob({ db, now }: MemorySession, { kind, run, stageRunId, job, delayed = false }: QueuedJob): void {
  const { delayMs = 0 } = job;
  db.jobs.insert({
    ...UNLOCKED,
    id: job.id,
    kind,
    runId: run.id,
    definitionKey: run.definitionKey,
    priority: run.priority,
    stageRunId,
    queue: job.queue,
    runAt: delayMs > 0 ? Math.max(now, run.enqueuedAt) + delayMs : run.enqueuedAt,
    state: delayed || delayMs > 0 ? 'delayed' : 'due',
    attempt: 0,
    capMs: job.capMs,
    sentAt: null,
  });
}

/** Gives the row of a job that is done to the stage run that follows: it keeps its place in the queue. */
export function moveJob({ db }: MemorySession, job: JobRecord, stageRunId: string, next: NewJob): void {
  db.jobs.patch(job, { ...UNLOCKED, stageRunId, queue: next.queue, capMs: next.capMs, state: 'due', attempt: 0 });
}

/** Lets go of a claimed job. Due at once it keeps its place in the queue; delayed it gets the place of its new time. */
export function putBack({ db, now }: MemorySession, job: JobRecord, delayMs: number, attempt: number): void {
  const delayed = delayMs > 0 ? ({ state: 'delayed', runAt: now + delayMs } as const) : ({ state: 'due' } as const);
  db.jobs.patch(job, { ...UNLOCKED, ...delayed, attempt });
}

/** Marks a job and, unless it only calls a cancel hook, its stage run as held by a worker (LEASE-1). */
export function hold(
  { db, now }: MemorySession,
  job: JobRecord,
  stageRun: StageRunRecord,
  { workerId, token }: { readonly workerId: string; readonly token: string },
): void {
  db.jobs.patch(job, {
    state: 'claimed',
    lockedBy: workerId,
    lockedAt: now,
    startedAt: now,
    claimToken: token,
    attempt: job.attempt + 1,
  });
  if (job.kind === 'cancel') return;
  db.stageRuns.patch(stageRun, {
    status: 'RUNNING',
    // What was suspended goes on as the attempt that it was.
    attempt: stageRun.attempt + (stageRun.resumed ? 0 : 1),
    resumed: false,
    claims: stageRun.claims + 1,
    claimToken: token,
    workerId,
    startedAt: now,
  });
}

/** The claimed `execute` job of a stage run, if there is one. */
export function heldJobOf({ db }: MemorySession, stageRun: StageRunRecord): JobRecord | null {
  const jobs = db.jobsOf.of(stageRun.runId);
  return jobs.find((job) => job.stageRunId === stageRun.id && job.kind === 'execute') ?? null;
}
