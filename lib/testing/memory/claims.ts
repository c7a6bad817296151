import type {
  ClaimedJob,
  ClaimRequest,
  ClaimResult,
  DiscardedJob,
  EarlierStageRun,
  UnsentJob,
  WorkStore,
} from '../../engine/ports/work-store.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { hold } from './jobs.js';
import { stageStarted, tell } from './outbox-writes.js';
import type { JobRecord, RunRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

export function claim(session: MemorySession, request: ClaimRequest): ClaimResult {
  const claimed: ClaimedJob[] = [];
  const discarded: DiscardedJob[] = [];
  for (const job of wantedJobs(session, request)) {
    const taken = take(session, job, request.workerId);
    if (typeof taken === 'object') claimed.push(taken);
    else discarded.push({ jobId: job.id, runId: job.runId, stageRunId: job.stageRunId, ghost: taken });
  }
  return { claimed, discarded };
}

/** The first due jobs that this worker may take: what it can't serve is passed over before the limit counts. */
function wantedJobs({ db }: MemorySession, { limit, queues, unserved }: ClaimRequest): JobRecord[] {
  const wanted: JobRecord[] = [];
  for (const job of db.dueJobs.rows) {
    if (wanted.length >= limit) break;
    if (queues !== null && !queues.includes(job.queue)) continue;
    if (!unserved.includes(job.definitionKey)) wanted.push(job);
  }
  return wanted;
}

/** Gives due jobs to an external transport. */
export function takeUnsent({ db, now }: MemorySession, limit: number): UnsentJob[] {
  const due = db.dueJobs.rows.slice(0, limit);
  return due.flatMap((job) => {
    db.jobs.patch(job, { state: 'sent', sentAt: now });
    const stageRun = db.stageRuns.get(job.stageRunId);
    if (stageRun === undefined) return [];
    const { kind, stageRunId, runId, queue, priority } = job;
    const resumes = kind === 'cancel' ? 0 : stageRun.resumes;
    return [{ kind, stageRunId, runId, queue, priority, attempt: nextAttempt(job, stageRun), resumes }];
  });
}

const nextAttempt = (job: JobRecord, stageRun: StageRunRecord): number =>
  job.kind === 'cancel' ? job.attempt + 1 : stageRun.attempt + (stageRun.resumed ? 0 : 1);

type WantedJob = NonNullable<Parameters<WorkStore['claimStageRun']>[2]>;

/** Takes one stage run's job by id, for external transports. */
export function claimStageRun(
  session: MemorySession,
  stageRunId: string,
  workerId: string,
  { kind, attempt }: WantedJob = { kind: 'execute', attempt: null },
): ClaimedJob | 'race' | 'orphan' | 'duplicate' {
  const { db } = session;
  const stageRun = db.stageRuns.get(stageRunId);
  const run = stageRun && db.runs.get(stageRun.runId);
  // Also before the start of its run: the message came early and comes again.
  if (stageRun === undefined || run === undefined || run.status === 'PENDING') return 'race';
  if (kind === 'execute' && isTerminalRun(run.status)) return 'orphan';
  const isWanted = (row: JobRecord): boolean =>
    row.state !== 'claimed' &&
    (attempt === null || (row.state !== 'delayed' && attempt === nextAttempt(row, stageRun)));
  const job = db.jobsOf.of(run.id).find((row) => row.stageRunId === stageRunId && row.kind === kind && isWanted(row));
  return job === undefined ? 'duplicate' : take(session, job, workerId);
}

/** Takes a due job, or removes it when what it is for is over. */
function take(session: MemorySession, job: JobRecord, workerId: string): ClaimedJob | 'orphan' | 'duplicate' {
  const run = session.db.runs.get(job.runId);
  const stageRun = session.db.stageRuns.get(job.stageRunId);
  if (run === undefined || stageRun === undefined) return discard(session, job, 'orphan');
  if (job.kind === 'execute') {
    if (isTerminalRun(run.status)) return discard(session, job, 'orphan');
    if (stageRun.status !== 'PENDING') return discard(session, job, 'duplicate');
  } else if (stageRun.status !== 'CANCELLED') {
    return discard(session, job, 'duplicate');
  }
  const token = session.nextId();
  const goesOn = stageRun.resumed;
  hold(session, job, stageRun, { workerId, token });
  if (job.kind === 'execute' && !goesOn && !isEscalation(stageRun)) tell(session, run.id, [stageStarted(stageRun)]);
  return claimedJob(session, job, run, stageRun, { token, resumed: goesOn });
}

function discard<Ghost extends 'orphan' | 'duplicate'>({ db }: MemorySession, job: JobRecord, ghost: Ghost): Ghost {
  db.jobs.remove(job);
  return ghost;
}

function claimedJob(
  session: MemorySession,
  job: JobRecord,
  run: RunRecord,
  stageRun: StageRunRecord,
  { token, resumed }: { readonly token: string; readonly resumed: boolean },
): ClaimedJob {
  return {
    kind: job.kind,
    jobId: job.id,
    token,
    run: {
      id: run.id,
      definitionId: run.definitionId,
      definitionVersion: run.definitionVersion,
      definitionKey: run.definitionKey,
      generation: run.generation,
      depth: run.depth,
      ownerId: run.ownerId,
      subject: run.subject,
      subjectSeen: run.subjectSeen,
      touches: run.touches,
      actor: run.actor,
      trace: run.trace,
      priority: run.priority,
      queue: run.queue,
      input: run.input,
    },
    stageRun: {
      id: stageRun.id,
      node: stageRun.node,
      key: stageRun.key,
      stage: stageRun.stage,
      visit: stageRun.visit,
      ordinal: stageRun.ordinal,
      attempt: job.kind === 'execute' ? stageRun.attempt : job.attempt,
      budgetFrom: stageRun.budgetFrom,
      deferrals: stageRun.deferrals,
      hasLedger: stageRun.claims > 1,
      resumed,
    },
    earlier: earlierOf(session, run),
    ...besideOf(session, run, stageRun),
  };
}

function earlierOf({ db }: MemorySession, run: RunRecord): EarlierStageRun[] {
  const earlier: (EarlierStageRun & { readonly ordinal: number })[] = [];
  for (const { generation, status, node, key, stage, output, ordinal, outcome } of db.stageRunsOf.of(run.id)) {
    if (generation !== run.generation || (status !== 'COMPLETED' && status !== 'SKIPPED') || isEscalation({ key }))
      continue;
    earlier.push({ node, key, stage, output, status, outcome, ordinal });
  }
  earlier.sort((a, b) => a.ordinal - b.ordinal);
  return earlier.map(({ ordinal: _, ...row }) => row);
}

function besideOf(
  { db }: MemorySession,
  { id, generation }: RunRecord,
  { id: own, ordinal }: StageRunRecord,
): Pick<ClaimedJob, 'unlisted' | 'isLatest'> {
  const others = db.stageRunsOf
    .of(id)
    .filter((one) => one.id !== own && one.generation === generation && !isEscalation(one));
  const untold = others.filter(({ status }) => status !== 'COMPLETED' && status !== 'SKIPPED');
  return {
    unlisted: [...new Set(untold.map(({ node }) => node))].sort(),
    isLatest: others.every((one) => one.ordinal < ordinal),
  };
}
