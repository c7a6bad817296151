import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type {
  ClaimedJob,
  ExpiredLease,
  JoinedRecord,
  Lease,
  LinearRecord,
  LostRecord,
  NewRun,
  ParentStep,
  StartKey,
} from '../../engine/ports/index.js';
import type { LostOutcome, NewJob, NewStageRun, StageOutcome, Transition } from '../../engine/state/rows.js';

/** A fresh id or token. */
export const newId = (): string => v7();

export const newJob = (given: Partial<NewJob> = {}): NewJob => ({
  id: newId(),
  queue: 'default',
  capMs: null,
  ...given,
});

/** A PENDING stage run with its job; the node is named like the stage unless given. */
export function newStageRun(given: Partial<NewStageRun> = {}): NewStageRun {
  const key = given.key ?? 'first';
  const ordinal = given.ordinal ?? 1;
  return {
    id: newId(),
    node: key,
    position: ordinal - 1,
    key,
    stage: `${key}-stage`,
    visit: 1,
    ordinal,
    status: 'PENDING',
    skipReason: null,
    failure: null,
    job: given.status === undefined || given.status === 'PENDING' ? newJob() : null,
    ...given,
  };
}

export const newTransition = (given: Partial<Transition> = {}): Transition => ({
  run: null,
  stageRuns: [],
  reopened: [],
  requeued: [],
  visits: [],
  events: [],
  cancelOpen: false,
  cancelJobs: [],
  ...given,
});

/** What follows a stage: one more, second in its run. */
export const followedBy = (given: Partial<NewStageRun> = {}): Transition =>
  newTransition({ stageRuns: [newStageRun({ key: 'second', ordinal: 2, ...given })] });

/** What follows the last stage. */
export const ending = (output = '"the end"'): Transition => newTransition({ run: { to: 'COMPLETED', output } });

/** A node with a branch for each key, its counter set. */
export function group(
  keys: readonly string[],
  given: { readonly node?: string; readonly after?: number } = {},
): Transition {
  const { node = 'group', after = 0 } = given;
  const stageRuns = keys.map((key, index) => newStageRun({ node, key, position: after, ordinal: after + index + 1 }));
  return newTransition({ stageRuns, visits: [{ node, visit: 1, open: keys.length }] });
}

/** A run that fails as a whole, its open stages with it. */
export const failing = (given: Partial<Transition> = {}): Transition =>
  newTransition({
    run: { to: 'FAILED', failure: { code: 'BROKEN', message: 'It broke.', params: null, node: 'first' } },
    cancelOpen: true,
    events: [{ type: 'run:failed', data: { code: 'BROKEN' } }],
    ...given,
  });

export const cancelling = (given: Partial<Transition> = {}): Transition =>
  newTransition({
    run: { to: 'CANCELLED', reason: 'asked for', terminated: false },
    cancelOpen: true,
    events: [{ type: 'run:cancelled', data: { reason: 'asked for' } }],
    ...given,
  });

/** A run of one stage, due at once. */
export function newRun(given: Partial<NewRun> = {}): NewRun {
  return {
    id: newId(),
    definitionId: 'documents',
    definitionVersion: 1,
    definitionKey: 'documents@1#f1',
    ownerId: null,
    subject: null,
    subjectSeen: false,
    actor: null,
    trace: null,
    priority: 0,
    queue: null,
    input: '{"a":1}',
    delayMs: 0,
    startAt: null,
    deadlineMs: null,
    awaited: false,
    idempotency: null,
    transition: newTransition({ stageRuns: [newStageRun()] }),
    ...given,
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

export const startKey = (key: string, given: { readonly input?: string; readonly ttlMs?: number } = {}): StartKey => ({
  digest: sha256(key),
  inputDigest: sha256(given.input ?? '{"a":1}'),
  ttlMs: given.ttlMs ?? 86_400_000,
});

export const leaseOf = ({ jobId, run, stageRun, token }: ClaimedJob): Lease => ({
  jobId,
  runId: run.id,
  stageRunId: stageRun.id,
  token,
});

export const failure = (given: Partial<FailureRecord> = {}): FailureRecord => ({
  code: 'EXCEPTION',
  name: 'Error',
  message: 'It went wrong.',
  retryable: true,
  ...given,
});

export const completed = (output = '"done"'): StageOutcome => ({ kind: 'completed', output });
export const skipped = (reason = 'nothing to do'): StageOutcome => ({ kind: 'skipped', reason });
export const retrying = (delayMs = 0, given: Partial<FailureRecord> = {}): StageOutcome => ({
  kind: 'retry',
  failure: failure(given),
  delayMs,
});
export const failed = (given: Partial<FailureRecord> = {}): StageOutcome => ({
  kind: 'failed',
  failure: failure({ retryable: false, ...given }),
});
export const released = (reason: 'shutdown' | 'version' = 'shutdown', delayMs = 0): StageOutcome => ({
  kind: 'released',
  reason,
  delayMs,
});
export const lost = (delayMs = 0): LostOutcome => ({
  kind: 'lost',
  failure: failure({ code: 'LEASE_EXPIRED', message: 'LEASE_HEARTBEAT_LOST: gone.' }),
  delayMs,
});
export const lostForGood = (): LostOutcome => ({ kind: 'failed', failure: failure({ code: 'LEASE_EXPIRED' }) });

const goesOn = ({ kind }: StageOutcome): boolean => kind === 'retry' || kind === 'released';

/** The record of a single stage's end. Without more said it completes, and ends its run. */
export function linear(job: ClaimedJob, given: Partial<LinearRecord> = {}): LinearRecord {
  const outcome = given.outcome ?? completed();
  return {
    lease: leaseOf(job),
    attempt: job.stageRun.attempt,
    outcome,
    transition: goesOn(outcome) ? null : ending(),
    events: [],
    handOff: null,
    ...given,
  };
}

/** The record of a branch's end, or of a terminal failure. */
export const joined = (job: ClaimedJob, given: Partial<JoinedRecord> = {}): JoinedRecord => ({
  lease: leaseOf(job),
  attempt: job.stageRun.attempt,
  definitionKey: job.run.definitionKey,
  node: job.stageRun.node,
  key: job.stageRun.key,
  visit: job.stageRun.visit,
  outcome: completed(),
  events: [],
  ...given,
});

export const lostRecord = (expired: ExpiredLease, given: Partial<LostRecord> = {}): LostRecord => ({
  expired,
  outcome: lost(),
  events: [],
  ...given,
});

/** The step of a claimed stage that a run is to be the child of. */
export const parentOf = (job: ClaimedJob, given: Partial<ParentStep> = {}): ParentStep => ({
  runId: job.run.id,
  stageRunId: job.stageRun.id,
  key: 'child',
  waits: true,
  depth: 1,
  ...given,
});
