import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { ModulesContainer } from '@nestjs/core';
import { Approvers } from '../../../../lib/composition/approvers.js';
import { assembleRuntime, type EngineRuntime } from '../../../../lib/composition/engine-runtime.js';
import type {
  HostTransactions,
  NewEvent,
  NewRun,
  RunHistory,
  WorkflowStore,
} from '../../../../lib/engine/ports/index.js';
import { decideCancel, decideRetry, decideStart } from '../../../../lib/engine/state/decide.js';
import type { WorkflowModuleOptions } from '../../../../lib/interfaces/index.js';
import type { ContextScope, ExecutionScope } from '../../../../lib/runtime/execution/context-scope.js';
import type { StageGate } from '../../../../lib/runtime/execution/stage-gate.js';
import type { SubjectSource } from '../../../../lib/runtime/execution/subject-source.js';
import type { EventSink, RelayedEvent } from '../../../../lib/runtime/outbox/relayed-event.js';
import { MemoryClock, MemoryDatabase, MemoryStore } from '../../../../lib/testing/memory/index.js';
import { resolveOptions } from '../../../../lib/workflow.module-definition.js';
import { registerOpen } from '../../../support/open-resources.js';
import { CollectedLog } from './collected-log.js';
import { LocalNotifier } from './local-notifier.js';
import { TestDefinitions, type TestWorkflow } from './pipeline.js';

/** Opens no context, and keeps what it was opened with. */
export class PlainScope implements ContextScope {
  readonly opened: ExecutionScope[] = [];
  loadOwner: (id: string | null) => unknown = (id) => id;

  async run<T>(scope: ExecutionScope, fn: (owner: unknown) => T | Promise<T>): Promise<T> {
    this.opened.push(scope);
    return fn(await this.loadOwner(scope.ownerId));
  }
}

/** Keeps the events it was given. */
export class CollectingSink implements EventSink {
  readonly events: RelayedEvent[] = [];
  listening = true;
  /** Throws for an event that is to fail. */
  hear: (event: RelayedEvent) => unknown = () => undefined;

  hasListeners(): boolean {
    return this.listening;
  }

  async deliver(event: RelayedEvent): Promise<void> {
    await this.hear(event);
    this.events.push(event);
  }
}

export interface TestEngineGiven {
  readonly options?: WorkflowModuleOptions;
  /** Shared by engines that stand for processes of one database. */
  readonly database?: MemoryDatabase;
  readonly clock?: MemoryClock;
  readonly notifier?: LocalNotifier;
  /** Around the store: to break it. */
  readonly wrap?: (store: WorkflowStore) => WorkflowStore;
  readonly workerId?: string;
  /** Asked before stages. @default nobody is */
  readonly gate?: StageGate;
  /** @default nobody loads subjects */
  readonly subjects?: SubjectSource;
  /** Where `ctx.transaction` runs. @default nowhere */
  readonly transactions?: HostTransactions;
  /** Instead of the in-memory one; `clock` and `database` then mean nothing. Closed with the engine. */
  readonly store?: WorkflowStore;
}

const OPEN_GATE: StageGate = { abilityOf: () => undefined, check: async () => ({ allowed: true }) };

const CONTEXT = { nextId: v7, defaultQueue: 'default' };

/** One process with a runtime, on the in-memory store unless given another; nothing moves before `runtime.worker.start()`. */
export class TestEngine {
  readonly clock: MemoryClock;
  readonly database: MemoryDatabase;
  readonly store: WorkflowStore;
  readonly notifier: LocalNotifier;
  readonly log = new CollectedLog();
  readonly scope = new PlainScope();
  readonly sink = new CollectingSink();
  readonly definitions: TestDefinitions;
  readonly runtime: EngineRuntime;
  readonly #closed: () => void;

  constructor(
    workflows: readonly TestWorkflow[],
    {
      options,
      database,
      clock,
      notifier,
      wrap,
      workerId,
      gate,
      subjects,
      transactions,
      store: given,
    }: TestEngineGiven = {},
  ) {
    this.clock = clock ?? MemoryClock.standing();
    this.database = database ?? new MemoryDatabase();
    this.notifier = notifier ?? new LocalNotifier();
    const store = given ?? new MemoryStore({ clock: this.clock, database: this.database });
    this.store = wrap ? wrap(store) : store;
    this.definitions = new TestDefinitions(...workflows);
    const resolved = resolveOptions({ worker: { pollInterval: '1 h' }, ...options });
    this.runtime = assembleRuntime({
      options: resolved,
      store: this.store,
      notifier: this.notifier,
      definitions: this.definitions,
      contexts: this.scope as never,
      gate: gate ?? OPEN_GATE,
      subjects: subjects ?? { load: () => undefined },
      subjectWriter: {
        transition: () => Promise.reject(new Error('This engine has no host.')),
        setField: () => Promise.reject(new Error('This engine has no host.')),
      },
      sink: this.sink,
      log: this.log,
      nextId: v7,
      startTriggered: () => Promise.reject(new Error('There are no triggers here.')),
      startChild: async ({ job }, key, { workflow, input, waits, failed }) => {
        const flow = workflows.find(({ compiled }) => compiled.id === workflow);
        if (!flow) throw new Error(`There is no workflow ${String(workflow)}.`);
        const digest = createHash('sha256').update(`${job.stageRun.id} ${key} ${failed}`).digest();
        const runId = await this.start(flow, input, {
          idempotency: { digest, inputDigest: digest, ttlMs: null },
          parent: { runId: job.run.id, stageRunId: job.stageRun.id, key, waits, depth: job.run.depth + 1 },
        });
        return { runId };
      },
      emitEvent: async ({ key, payload, subject, messageId }) => {
        const messageDigest = createHash('sha256').update(messageId).digest();
        const event = { ...eventOf(key, payload, null), subject, messageDigest };
        if (await this.store.storeEvent(event)) await this.runtime.matcher.matchEvent(event);
      },
      approvals: new Approvers({ modules: new ModulesContainer(), options: resolved, resolver: null as never }).on(
        this.store,
      ),
      transactions: transactions ?? { run: () => Promise.reject(new Error('This engine has no host.')) },
      workerId: workerId ?? `worker-${v7()}`,
    });
    this.#closed = registerOpen({ kind: 'engine', name: 'test', close: () => this.close() });
  }

  async start({ compiled, key }: TestWorkflow, input: unknown = null, given: Partial<NewRun> = {}): Promise<string> {
    const id = v7();
    const text = JSON.stringify(input);
    const queue = given.queue ?? null;
    const delayMs = given.delayMs ?? 0;
    const run: NewRun = {
      id,
      definitionId: compiled.id,
      definitionVersion: compiled.version,
      definitionKey: key,
      ownerId: null,
      subject: null,
      subjectSeen: false,
      actor: null,
      trace: null,
      priority: 0,
      queue,
      input: text,
      delayMs,
      startAt: null,
      deadlineMs: null,
      awaited: false,
      idempotency: null,
      transition: decideStart(compiled, { id, queue, input: text }, delayMs > 0, CONTEXT),
      ...given,
    };
    const [created] = await this.store.createRuns([run]);
    return created!.runId;
  }

  /** Runs whatever is due, and what follows from it, here and now. */
  async drain(): Promise<number> {
    return (await this.runtime.pump.processAvailable()).processed;
  }

  async signal(runId: string, name: string, payload: unknown): Promise<string> {
    const answer = await this.store.sendSignal(eventOf(name, payload, null), runId, { all: true });
    this.runtime.worker.kick();
    return answer;
  }

  /** Stores an event and, as the service does, matches it after the commit. */
  async emit(key: string, payload: unknown, ownerId: string | null = null): Promise<void> {
    const event = eventOf(key, payload, ownerId);
    await this.store.storeEvent(event);
    await this.runtime.matcher.matchEvent(event);
  }

  /** What was stored a moment ago has been matched. */
  async settled(): Promise<void> {
    await this.runtime.matcher.sweep(0);
  }

  passTime(ms: number): void {
    this.store.clockOffsetMs += ms;
  }

  /** Jobs of a run, in any state. */
  async jobCount(runId: string): Promise<number | undefined> {
    const all = { all: true } as const;
    return (await this.store.changeRun(runId, all, ({ jobCount }) => ({ transition: null, answer: jobCount })))?.answer;
  }

  /** Time passes, and what is due by then happens. */
  async travel(ms: number): Promise<void> {
    this.passTime(ms);
    await this.runtime.pass.wake();
    await this.drain();
  }

  /** `hooks: false` is `terminate`. */
  async cancel(runId: string, { hooks = true } = {}): Promise<void> {
    await this.store.changeRun(runId, { all: true }, ({ row, state }) => {
      const definition = this.definitions.byKey(row.definitionKey)?.compiled;
      return { transition: decideCancel(definition, state, 'asked', hooks, CONTEXT) ?? null, answer: null };
    });
  }

  async retry(runId: string): Promise<void> {
    await this.store.changeRun(runId, { all: true }, ({ row, state }) => {
      const definition = this.definitions.byKey(row.definitionKey)?.compiled;
      const decision = decideRetry(definition, state, row.failedNode, CONTEXT);
      return { transition: 'transition' in decision ? decision.transition : null, answer: null };
    });
  }

  async history(runId: string): Promise<RunHistory> {
    const history = await this.store.history(runId, { all: true });
    if (!history) throw new Error(`There is no run ${runId}.`);
    return history;
  }

  /** Status of the run, then of each stage by its key. */
  async statuses(runId: string): Promise<Record<string, string>> {
    const { run, stageRuns } = await this.history(runId);
    return Object.fromEntries([['run', run.status], ...stageRuns.map(({ key, status }) => [key, status])]);
  }

  async output(runId: string): Promise<unknown> {
    const { run } = await this.history(runId);
    return run.output === null ? undefined : JSON.parse(run.output);
  }

  async close(): Promise<void> {
    this.#closed();
    this.runtime.results.stop();
    await Promise.all([
      this.runtime.worker.stop(0),
      this.runtime.dueTimer.stop(),
      this.runtime.waitTimer.stop(),
      this.runtime.family.stop(),
      this.runtime.matcher.stop(),
      this.runtime.relay.stop(1_000),
    ]);
    await this.store.close();
  }
}

function eventOf(key: string, payload: unknown, ownerId: string | null): NewEvent {
  return { id: v7(), ownerId, key, subject: null, payload: JSON.stringify(payload), messageDigest: null };
}
