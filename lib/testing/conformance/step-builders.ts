import { createHash } from 'node:crypto';
import type { ClaimedJob, NewEvent, OpenWait, StepWrite, SuspendRecord } from '../../engine/ports/index.js';
import type { AttemptNotes, NewAnnotation, NewLogLine } from '../../engine/state/notes.js';
import { failure, leaseOf, newId } from './builders.js';

/** How long bodies of steps hold their leases, unless given. */
export const STEP_LEASE_MS = 300_000;

type WriteOf<Op extends StepWrite['op']> = Extract<StepWrite, { readonly op: Op }>;

/** A body is to begin. */
export const begin = (job: ClaimedJob, key: string, given: Partial<WriteOf<'begin'>> = {}): StepWrite => ({
  op: 'begin',
  lease: leaseOf(job),
  key,
  kind: 'run',
  leaseMs: STEP_LEASE_MS,
  orders: [],
  ...given,
});

/** A body has ended; without more said it completed, as the first whose outcome reached its stage. */
export const finish = (job: ClaimedJob, key: string, given: Partial<WriteOf<'finish'>> = {}): StepWrite => ({
  op: 'finish',
  lease: leaseOf(job),
  key,
  kind: 'run',
  begun: true,
  outcome: { kind: 'completed', result: '"done"' },
  seq: 1,
  effect: null,
  orders: [],
  ...given,
});

/** Waits that are awaited while something else of the body still runs. */
export const awaiting = (
  job: ClaimedJob,
  waits: readonly OpenWait[],
  given: Partial<WriteOf<'wait'>> = {},
): StepWrite => ({
  op: 'wait',
  lease: leaseOf(job),
  waits,
  orders: [],
  ...given,
});

/** A sleep of a minute, unless given. */
export const newWait = (key: string, given: Partial<OpenWait> = {}): OpenWait => ({
  key,
  kind: 'sleep',
  due: given.kind === undefined ? { inMs: 60_000 } : null,
  dueIfNew: true,
  expiresInMs: null,
  eventKey: null,
  subject: null,
  where: null,
  childRunId: null,
  state: null,
  epoch: 0,
  ...given,
});

export const sleep = (key: string, inMs: number): OpenWait => newWait(key, { due: { inMs } });

/** A wait for an event of this key; without a limit, unless given. */
export const eventWait = (key: string, given: Partial<OpenWait> = {}): OpenWait =>
  newWait(key, { kind: 'event', eventKey: 'paid', ...given });

/** A wait for a signal of this name; without a limit, unless given. */
export const signalWait = (key: string, given: Partial<OpenWait> = {}): OpenWait =>
  newWait(key, { kind: 'signal', eventKey: 'approve', ...given });

export const childWait = (key: string, childRunId: string, given: Partial<OpenWait> = {}): OpenWait =>
  newWait(key, { kind: 'child', childRunId, ...given });

/** A stage that has nothing to do but wait for these. */
export const suspending = (
  job: ClaimedJob,
  waits: readonly OpenWait[],
  given: Partial<SuspendRecord> = {},
): SuspendRecord => ({
  lease: leaseOf(job),
  attempt: job.stageRun.attempt,
  touches: job.run.touches,
  waits,
  keep: waits.map(({ key }) => key),
  orders: [],
  events: [],
  notes: null,
  ...given,
});

export const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** An event, or a signal where it is sent to a run: of no owner, about nothing, each send counts. */
export const newEvent = (given: Partial<NewEvent> = {}): NewEvent => ({
  id: newId(),
  ownerId: null,
  key: 'paid',
  subject: null,
  payload: '{"amount":1}',
  messageDigest: null,
  ...given,
});

export const newSignal = (given: Partial<NewEvent> = {}): NewEvent => newEvent({ key: 'approve', ...given });

export const failureText = (message = 'It went wrong.'): string => JSON.stringify(failure({ message }));

export const newAnnotation = (given: Partial<NewAnnotation> = {}): NewAnnotation => ({
  id: newId(),
  key: 'words',
  value: '3',
  scope: 'stage',
  actor: null,
  ...given,
});

export const newLine = (given: Partial<NewLogLine> = {}): NewLogLine => ({
  id: newId(),
  level: 'log',
  message: 'Read the first page.',
  ...given,
});

export const newNotes = (given: Partial<AttemptNotes> = {}): AttemptNotes => ({
  annotations: [newAnnotation()],
  lines: [newLine()],
  progress: { done: 1, total: 3, message: 'first page' },
  ...given,
});
