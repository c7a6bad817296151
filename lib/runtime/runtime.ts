import type { DecideSettled, FinishedRun, NextId, Notifier, WorkflowStore } from '../engine/ports/index.js';
import { decideSettled } from '../engine/state/decide.js';
import { Deadlines } from './background/deadlines.js';
import { Outages } from './background/outages.js';
import { Pauses } from './background/pauses.js';
import type { RuntimeLog } from './background/runtime-log.js';
import { within } from './background/within.js';
import type { SystemActor } from './execution/acting.js';
import { CancelHook } from './execution/cancel-hook.js';
import type { ContextScope } from './execution/context-scope.js';
import type { DefinitionSource } from './execution/definition-source.js';
import { ServedStages } from './execution/served-stages.js';
import { StageExecution } from './execution/stage-execution.js';
import { CancelledRuns } from './lease/cancelled-runs.js';
import { Heartbeat } from './lease/heartbeat.js';
import { LeaseReaper } from './lease/lease-reaper.js';
import { LiveAttempts } from './lease/live-attempts.js';
import { OutboxRelay } from './outbox/outbox-relay.js';
import type { EventSink } from './outbox/relayed-event.js';
import { ResultHub } from './result/result-hub.js';
import type { RuntimeSettings } from './runtime-settings.js';
import { DueTimer } from './wake/due-timer.js';
import { OverdueRuns } from './wake/overdue-runs.js';
import { StuckRuns } from './wake/stuck-runs.js';
import { WakePass } from './wake/wake-pass.js';
import { JobPump } from './worker/job-pump.js';
import { JobRunner } from './worker/job-runner.js';
import { OutcomeRecords } from './worker/outcome-records.js';
import { tellFinished, tellRecorded, type RecordListeners } from './worker/record-effects.js';
import { Recorder } from './worker/recorder.js';
import { UnservedDefinitions } from './worker/unserved-definitions.js';
import { Worker, type WorkerEvent } from './worker/worker.js';

/** What the runtime stands on; made by the composition root. */
export interface RuntimeParts {
  readonly settings: RuntimeSettings;
  readonly store: WorkflowStore;
  readonly notifier: Notifier;
  readonly definitions: DefinitionSource;
  readonly scope: ContextScope;
  readonly systemActor: SystemActor;
  readonly sink: EventSink;
  readonly nextId: NextId;
  readonly log: RuntimeLog;
  /** @default Math.random */
  readonly random?: () => number;
  /** For tests and metrics. Must not throw. */
  readonly onEvent?: (event: WorkerEvent) => void;
}

/**
 * The moving parts of one process, tied together. Nothing moves before `start`; `processAvailable`, `handleJob` and the
 * wake pass work without it.
 */
export class Runtime {
  readonly worker: Worker;
  readonly pump: JobPump;
  readonly wakePass: WakePass;
  readonly dueTimer: DueTimer;
  readonly relay: OutboxRelay;
  readonly results: ResultHub;

  constructor(parts: RuntimeParts) {
    const { settings, store, notifier, definitions, scope, systemActor, sink, nextId, log, onEvent } = parts;
    const random = parts.random ?? Math.random;
    const outages = new Outages(log, random);
    const pauses = new Pauses();
    const deadlines = new Deadlines();
    const live = new LiveAttempts();
    const cancelled = new CancelledRuns();
    const stages = new ServedStages(definitions);
    const context = { nextId, defaultQueue: settings.defaultQueue };
    // What events tell of the future is told in the store's time.
    const now = (): number => Date.now() + store.clockOffsetMs;
    const decide: DecideSettled = (key, state, event) =>
      decideSettled(definitions.byKey(key)?.compiled, state, event, context);

    const listeners: RecordListeners = {
      workAppeared: (count, queues) => this.worker.workAppeared(count, queues),
      delayed: (inMs) => this.dueTimer.note(inMs),
      eventsWritten: () => this.relay.kick(),
      publish: (hint) => notifier.publish(hint),
      finished: (runs) => {
        this.results.finished(runs);
        const failed = runs.filter(({ status }) => status === 'FAILED').map(({ runId }) => runId);
        if (failed.length > 0) void this.worker.cancelled(failed);
      },
    };
    const onDue = (jobs: number): void => {
      listeners.eventsWritten();
      listeners.workAppeared(jobs, new Set());
    };
    const onFinished = (runs: readonly FinishedRun[]): void => {
      listeners.eventsWritten();
      tellFinished(runs, listeners);
    };

    const maxOutputBytes = settings.maxOutputBytes;
    const execution = new StageExecution({ definitions, scope, systemActor, deadlines, log, random, maxOutputBytes });
    const hook = new CancelHook({ store, execution, outages, pauses, log });
    const heartbeat = new Heartbeat({ store, live, outages, log, everyMs: settings.heartbeatMs });
    const onRecorded = (recorded: Parameters<typeof tellRecorded>[0]): void => tellRecorded(recorded, listeners);
    const recorder = new Recorder({ store, decide, outages, pauses, log, onRecorded });
    const unserved = new UnservedDefinitions(stages, log, settings.versionDeferMs);
    const records = new OutcomeRecords(context, now);
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
    this.worker = new Worker(settings, {
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
      onEvent,
    });
    this.pump = new JobPump(settings, { store, runner, unserved, nextId });

    const batch = settings.wakeBatch;
    const limits = { staleMs: settings.staleMs, capMs: settings.capMs };
    const { stuckAfterMs, maxLosses, retryPolicy: policy } = settings;
    this.dueTimer = new DueTimer({ store, onDue, outages, log, batch });
    this.relay = new OutboxRelay({
      store,
      sink,
      relayId: settings.workerId,
      policy: settings.outboxPolicy,
      outages,
      log,
      random,
    });
    this.results = new ResultHub({ store, notifier, deadlines, outages, log });
    this.wakePass = new WakePass({
      store,
      reaper: new LeaseReaper({ store, decide, log, limits, maxLosses, policy, batch, random, now }),
      stuck: new StuckRuns({ store, definitions, context, log, stuckAfterMs, batch, onFinished }),
      overdue: new OverdueRuns({ store, definitions, context, log, batch, onFinished }),
      relay: this.relay,
      dueTimer: this.dueTimer,
      onDue,
      limits,
      stuckAfterMs,
      batch,
      outages,
      log,
    });
  }

  /** Begins. `worker: false`: this process claims nothing by itself, but relays events, waits for results and wakes. */
  start({ worker }: { readonly worker: boolean }): void {
    this.results.start();
    this.dueTimer.start();
    this.relay.start();
    if (worker) this.worker.start();
  }

  /**
   * Ends in order: who waits for results is told, bodies get `graceMs`, what they recorded is told to handlers. Takes
   * `graceMs` and some seconds at most, whatever hangs (fault K14). Never rejects. The store is still needed until then.
   */
  async stop(graceMs: number): Promise<void> {
    this.results.stop();
    await Promise.all([
      this.worker.stop(graceMs),
      within(STOP_WAIT_MS, this.dueTimer.stop()),
      within(STOP_WAIT_MS, this.wakePass.stop()),
    ]);
    await this.relay.stop(STOP_WAIT_MS);
  }
}

/** How long a part may take to finish its round at shutdown. */
const STOP_WAIT_MS = 5_000;
