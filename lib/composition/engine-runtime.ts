import { CancelHook } from '../runtime/execution/cancel-hook.js';
import { ServedStages } from '../runtime/execution/served-stages.js';
import { StageExecution } from '../runtime/execution/stage-execution.js';
import { Family } from '../runtime/children/family.js';
import { EventMatcher } from '../runtime/events/event-matcher.js';
import type { StageGate } from '../runtime/execution/stage-gate.js';
import type { SubjectSource } from '../runtime/execution/subject-source.js';
import type { StartChild } from '../runtime/steps/attempt-replay.js';
import type { StepCrashes } from '../runtime/steps/step-crashes.js';
import type { NodeHost, SubjectWriter } from '../runtime/nodes/index.js';
import { LiveSteps } from '../runtime/steps/live-steps.js';
import { StepWriter } from '../runtime/steps/step-writer.js';
import { JobDispatcher } from '../runtime/dispatch/job-dispatcher.js';
import { MessageHandler } from '../runtime/dispatch/message-handler.js';
import { TransportLink } from '../runtime/dispatch/transport-link.js';
import { Deadlines } from '../runtime/background/deadlines.js';
import { Outages } from '../runtime/background/outages.js';
import { Pauses } from '../runtime/background/pauses.js';
import type { RuntimeLog } from '../runtime/background/runtime-log.js';
import { CancelledRuns } from '../runtime/lease/cancelled-runs.js';
import { Heartbeat } from '../runtime/lease/heartbeat.js';
import { LeaseReaper } from '../runtime/lease/lease-reaper.js';
import { LiveAttempts } from '../runtime/lease/live-attempts.js';
import { OutboxRelay } from '../runtime/outbox/outbox-relay.js';
import type { EventSink } from '../runtime/outbox/relayed-event.js';
import { ResultHub } from '../runtime/result/result-hub.js';
import { EventTriggers } from '../runtime/triggers/event-triggers.js';
import { Schedules } from '../runtime/triggers/schedules.js';
import { TriggerSpecs } from '../engine/graph/index.js';
import type { StartTriggered } from '../runtime/triggers/triggered-start.js';
import { DelayedJobs } from '../runtime/wake/delayed-jobs.js';
import { DueTimer } from '../runtime/wake/due-timer.js';
import { DueWaits } from '../runtime/wake/due-waits.js';
import { OpenedWaits } from '../runtime/wake/opened-waits.js';
import { OverdueRuns } from '../runtime/wake/overdue-runs.js';
import { StuckRuns } from '../runtime/wake/stuck-runs.js';
import { WakePass } from '../runtime/wake/wake-pass.js';
import { JobPump } from '../runtime/worker/job-pump.js';
import { HostRecord } from '../runtime/worker/host-record.js';
import { JobRunner } from '../runtime/worker/job-runner.js';
import { OutcomeRecords } from '../runtime/worker/outcome-records.js';
import { tellRecorded, type RecordListeners } from '../runtime/worker/record-effects.js';
import { Recorder } from '../runtime/worker/recorder.js';
import { UnservedDefinitions } from '../runtime/worker/unserved-definitions.js';
import { Worker } from '../runtime/worker/worker.js';
import { decideSettled } from '../engine/state/decide.js';
import type { ContextRunner } from '../context/index.js';
import type {
  DecideSettled,
  FinishedRun,
  HostTransactions,
  NextId,
  Notifier,
  StoredEvent,
  WorkflowStore,
} from '../engine/ports/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import type { DefinitionSource } from '../runtime/execution/definition-source.js';
import { turnLimits } from './turn-limits.js';

export interface EngineRuntimeParts {
  readonly options: ResolvedWorkflowOptions;
  readonly store: WorkflowStore;
  readonly notifier: Notifier;
  readonly definitions: DefinitionSource;
  readonly contexts: ContextRunner;
  readonly sink: EventSink;
  readonly log: RuntimeLog;
  readonly nextId: NextId;
  readonly startChild: StartChild;
  readonly emitEvent: NodeHost['emit'];
  readonly approvals: NodeHost['approvals'];
  readonly startTriggered: StartTriggered;
  readonly gate: StageGate;
  readonly subjects: SubjectSource;
  readonly subjectWriter: SubjectWriter;
  readonly transactions: HostTransactions;
  /** Only in tests. */
  readonly crashes?: StepCrashes;
  /** Unique per process incarnation (LEASE-1). */
  readonly workerId: string;
}

/** The moving parts of one engine, put together and not yet moving. */
export interface EngineRuntime {
  readonly worker: Worker;
  readonly pump: JobPump;
  /** In place of the worker's loop, where an external transport carries the jobs. */
  readonly link: TransportLink | null;
  readonly relay: OutboxRelay;
  readonly results: ResultHub;
  readonly dueTimer: DueTimer;
  readonly waitTimer: DueTimer;
  readonly scheduleTimer: DueTimer;
  readonly matcher: EventMatcher;
  readonly family: Family;
  readonly pass: WakePass;
}

/** What a worker has where the process has none: `processAvailable` still runs so many at once. */
const PUMP_CONCURRENCY = 20;

/** Puts the runtime together by hand: who tells whom of what is written here and nowhere else. */
export function assembleRuntime(parts: EngineRuntimeParts): EngineRuntime {
  const {
    options,
    store,
    notifier,
    definitions,
    contexts,
    sink,
    log,
    nextId,
    startChild,
    emitEvent,
    transactions,
    crashes,
    workerId,
  } = parts;
  const random = Math.random;
  const context = { nextId, defaultQueue: options.queue.default };
  const outages = new Outages(log);
  const pauses = new Pauses();
  const deadlines = new Deadlines();
  const live = new LiveAttempts();
  const cancelled = new CancelledRuns();
  const stages = new ServedStages(definitions);
  const unserved = new UnservedDefinitions({ definitions, log, deferMs: options.versionDeferDelayMs });
  const liveSteps = new LiveSteps();
  const writer = new StepWriter({ store, outages, pauses });
  const heartbeat = new Heartbeat({
    store,
    live,
    steps: liveSteps,
    outages,
    log,
    everyMs: options.lease.heartbeatIntervalMs,
  });
  const decide: DecideSettled = (key, state, events) =>
    decideSettled(definitions.byKey(key)?.compiled, state, events, context);
  const systemActor = options.systemActor ?? ((): null => null);
  const { maxOutputBytes } = options.limits;
  const records = new OutcomeRecords(context, Date.now);
  const recorder = new Recorder({
    store,
    decide,
    outages,
    pauses,
    log,
    onRecorded: (recorded) => tellRecorded(recorded, listeners),
  });
  const hostRecord = new HostRecord({ store, transactions, records, recorder, decide, outages, pauses });
  const execution = new StageExecution({
    definitions,
    scope: contexts,
    systemActor,
    gate: parts.gate,
    subjects: parts.subjects,
    deadlines,
    log,
    random,
    maxOutputBytes,
    nextId,
    nodes: {
      limits: turnLimits(options),
      emit: emitEvent,
      approvals: parts.approvals,
      now: () => store.now(),
      subjects: parts.subjectWriter,
      readable: (name, subject) => parts.subjects.readable?.(name, subject) ?? subject,
    },
    recordWithin: (attempt, outcome) => hostRecord.record(attempt, outcome),
    steps: {
      store,
      writer,
      live: liveSteps,
      startChild,
      onWaiting: (stageRunId, waits) => opened.tell(stageRunId, waits),
      transactions,
      ...(crashes && { crashes }),
      outages,
      pauses,
      log,
      random,
      maxOutputBytes,
    },
  });
  const hook = new CancelHook({ store, execution, outages, pauses, log });
  const runner = new JobRunner({
    store,
    stages,
    execution,
    hook,
    records,
    recorder,
    live,
    heartbeat,
    cancelled,
    unserved,
    context,
    nextId,
    outages,
    pauses,
    log,
  });
  const settings = {
    workerId,
    concurrency: options.worker?.concurrency ?? PUMP_CONCURRENCY,
    pollMs: options.worker?.pollIntervalMs ?? 1_000,
    queues: options.worker?.queues ?? null,
  };
  const worker = new Worker(settings, {
    store,
    runner,
    recorder,
    heartbeat,
    live,
    cancelled,
    unserved,
    notifier,
    nextId,
    outages,
    log,
    random,
  });
  const pump = new JobPump(settings, { store, runner, unserved, nextId });
  const relay = new OutboxRelay({
    store,
    sink,
    relayId: workerId,
    policy: options.outbox.policy,
    outages,
    log,
    random,
  });
  const results = new ResultHub({ store, notifier, deadlines, outages, log });

  const { transport } = options;
  const link =
    transport &&
    new TransportLink({
      transport,
      dispatcher: new JobDispatcher({
        store,
        transport,
        pollMs: settings.pollMs,
        requeueAfterMs: options.requeueAfterMs,
        outages,
        log,
        random,
      }),
      handler: new MessageHandler({ store, pump, outages, log }),
      worker,
      notifier,
      queues: settings.queues,
      concurrency: settings.concurrency,
      log,
    });
  const workAppeared = (count: number, queues: ReadonlySet<string>): void =>
    link ? link.workAppeared() : worker.workAppeared(count, queues);

  const onDue = (jobs: number): void => workAppeared(jobs, new Set());
  const onFinished = (runs: readonly FinishedRun[]): void => {
    results.finished(runs);
    // The other branches of a run that failed here may run here too; where NOTIFY is off nobody else tells their bodies.
    const failed = runs.filter(({ status }) => status !== 'COMPLETED').map(({ runId }) => runId);
    if (failed.length > 0) {
      void worker.cancelled(failed);
      link?.cancelled(failed);
    }
    relay.kick();
    if (runs.some(({ child, status }) => child || status !== 'COMPLETED')) family.kick();
  };
  const tellFinished = (runs: readonly FinishedRun[]): void => {
    onFinished(runs);
    const ended = runs.map(({ runId }) => runId);
    notifier.publish({ cancelled: ended, finished: runs.filter(({ awaited }) => awaited).map(({ runId }) => runId) });
  };
  const { batch } = options.wake;
  const delayed = new DelayedJobs({ store, onDue, batch });
  const makeDue = async (): Promise<number | null> => (await delayed.runOnce(0)).nextInMs;
  const dueTimer = new DueTimer({ name: 'due jobs', makeDue, store, outages, log });
  const specs = new TriggerSpecs();
  const eventTriggers = new EventTriggers({
    store,
    specs,
    start: parts.startTriggered,
    log,
    batch,
    guard: options.triggers,
  });
  const startTriggered = (event: StoredEvent): Promise<boolean> => eventTriggers.matchEvent(event);
  const matcher = new EventMatcher({ store, startTriggered, onResumed: onDue, outages, pauses, log, batch });
  const waits = new DueWaits({ store, matcher, onResumed: onDue, batch });
  const fireDue = async (): Promise<number | null> => (await waits.runOnce(0)).nextInMs;
  const waitTimer = new DueTimer({ name: 'due waits', makeDue: fireDue, store, outages, log });
  const schedules = new Schedules({ store, specs, start: parts.startTriggered, log, batch });
  const runSchedules = async (): Promise<number | null> => (await schedules.runOnce(0)).nextInMs;
  const scheduleTimer = new DueTimer({ name: 'schedules', makeDue: runSchedules, store, outages, log });
  const opened = new OpenedWaits(waitTimer, matcher);
  const family = new Family({
    store,
    definitions,
    context,
    onDelivered: onDue,
    onFinished: tellFinished,
    outages,
    log,
    batch,
  });
  const listeners: RecordListeners = {
    workAppeared,
    delayed: (inMs) => dueTimer.note(inMs),
    waitDue: (inMs) => waitTimer.note(inMs),
    waiting: (stageRunIds) => void matcher.matchStageRuns(stageRunIds),
    finished: onFinished,
    eventsWritten: () => relay.kick(),
    publish: (hint) => notifier.publish(hint),
  };

  const limits = { staleMs: options.lease.staleThresholdMs, capMs: options.lease.absoluteTimeoutMs };
  const { stuckAfterMs } = options;
  const reaper = new LeaseReaper({
    store,
    decide,
    log,
    limits,
    maxLosses: options.lease.maxLosses,
    policy: options.retry.policy,
    batch,
    random,
    now: Date.now,
  });
  const stuck = new StuckRuns({ store, definitions, context, log, stuckAfterMs, batch, onFinished: tellFinished });
  const overdue = new OverdueRuns({ store, definitions, context, log, batch, onFinished: tellFinished });
  const pass = new WakePass({
    store,
    reaper,
    stuck,
    overdue,
    relay,
    matcher,
    family,
    delayed,
    waits,
    dueTimer,
    waitTimer,
    schedules,
    scheduleTimer,
    onDue,
    limits,
    stuckAfterMs,
    requeueAfterMs: options.requeueAfterMs,
    eventRetentionMs: options.events.retentionMs,
    batch,
    outages,
    log,
  });
  return { worker, pump, link, relay, results, dueTimer, waitTimer, scheduleTimer, matcher, family, pass };
}
