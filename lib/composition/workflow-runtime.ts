import { hostname } from 'node:os';

import type { PolicyStageAuthorizer } from '../authorization/index.js';
import { ContextRunner, outsideOfRequests, OwnerBoundary } from '../context/index.js';
import { ShuttingDownError } from '../errors/index.js';
import type { OwnerContext } from '../interfaces/index.js';
import { within } from '../runtime/background/within.js';
import type { StageGate } from '../runtime/execution/stage-gate.js';
import type { AnnotationsService } from '../services/annotations.service.js';
import type { ApprovalsService } from '../services/approvals.service.js';
import type { AuditService } from '../services/audit.service.js';
import type { DefinitionsService } from '../services/definitions.service.js';
import { Templates } from '../services/definitions/templates.js';
import { EventDispatcher } from '../services/events/event-dispatcher.js';
import { EventStream } from '../services/events/event-stream.js';
import { EmitterBridge } from '../services/events/emitter-bridge.js';
import { AmbientTransactions } from '../services/transaction/ambient-transactions.js';
import { WakeService } from '../services/wake.service.js';
import { WorkflowHost } from '../services/workflow-host.js';
import type { WorkflowService } from '../services/workflow.service.js';
import type { RouteAccess } from '../services/operations/route-access.js';
import type { EventSender } from '../services/messages/event-sender.js';
import type { ChildStarter } from '../services/start/child-starter.js';
import { WebhookReceiver, type WebhookSettings } from '../services/webhooks/webhook-receiver.js';
import type { TriggerStarter } from '../services/start/trigger-starter.js';
import { Approvers } from './approvers.js';
import { Authorization } from './authorization.js';
import { assembleServices } from './assemble-services.js';
import { checkDrift } from './drift-check.js';
import { Engine } from './engine.js';
import { EntityEvents } from './entity-events.js';
import { assembleRuntime } from './engine-runtime.js';
import type { EngineStorage, OpenStorage } from './engine-storage.js';
import { BoundHandlers } from './event-handlers.js';
import { findOwnerContext } from './find-owner-context.js';
import { graphWorkbench } from './graph-workbench.js';
import { HostProviders } from './host-providers.js';
import { createNextId } from './new-id.js';
import { OpenedTransactions } from './opened-transactions.js';
import { openPostgresStorage } from './postgres-storage.js';
import { definitionLookup, definitionSource } from './registry-source.js';
import { PublishedGraphs } from './published-graphs.js';
import { RelaySink } from './relay-sink.js';
import { Retryable } from './retryable.js';
import type { RuntimeParts } from './runtime-parts.js';
import { Subjects } from './subjects.js';
import { turnLimits } from './turn-limits.js';

export const WORKFLOW_RUNTIME = Symbol.for('nestjs-workflow-engine:runtime');

const NEXT_ID = createNextId();

/** How long stopping may take beyond the grace of the stages. */
const CLOSE_MS = 30_000;
/** How long a touch that is under way may keep everything else from stopping: it may wait for a run that the host holds. */
const UNWATCH_MS = 1_000;

/**
 * The engine of one application, from boot to shutdown; there is one, however many modules import `WorkflowModule`.
 *
 * Three steps, each done once and tried anew after it failed: `prepare` finds and checks the definitions, `ready` opens the
 * store and refuses drift, `start` sets the engine in motion. Services call `ready` themselves, so that a process may use
 * them before, or without, anything moving.
 */
export class WorkflowRuntime {
  readonly workflows: WorkflowService;
  readonly annotations: AnnotationsService;
  readonly audit: AuditService;
  readonly approvals: ApprovalsService;
  readonly definitions: DefinitionsService;
  /** What the guard of the host's routes asks. */
  readonly routes: RouteAccess;
  readonly wake: WakeService;
  readonly host: WorkflowHost;
  /** The policies, for hosts to ask. */
  readonly policies: PolicyStageAuthorizer;
  readonly #parts: RuntimeParts;
  readonly #hostProviders: HostProviders;
  readonly #stream = new EventStream();
  readonly #boundary = new OwnerBoundary(() => this.#ownerContext);
  readonly #contexts: ContextRunner;
  readonly #children: ChildStarter;
  readonly #events: EventSender;
  readonly #entityEvents: EntityEvents;
  readonly #triggered: TriggerStarter;
  readonly #dispatcher: EventDispatcher;
  readonly #authorization: Authorization;
  readonly #subjects: Subjects;
  readonly #approvers: Approvers;
  readonly #templates: Templates;
  readonly #prepared = new Retryable(() => this.#prepare());
  readonly #opened = new Retryable(() => this.#open());
  readonly #started = new Retryable(() => this.#start());
  #gate: StageGate | undefined;
  #ownerContext: OwnerContext | null = null;
  #storage: EngineStorage | undefined;
  #stopping: Promise<void> | undefined;
  #closed = false;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
    const { options, scope, modules } = parts;
    this.#hostProviders = new HostProviders(modules);
    this.#contexts = new ContextRunner(scope, {
      loadOwner: options.owners.load ?? undefined,
      boundary: this.#boundary,
    });
    this.#authorization = new Authorization(parts);
    this.policies = this.#authorization.policies;
    const handlers = new BoundHandlers(parts.registry, parts.resolver);
    const emitter = new EmitterBridge(() => this.#hostProviders.eventEmitter());
    this.#dispatcher = new EventDispatcher(this.#contexts, () => handlers.list(), this.#stream, emitter);
    const ready = (): Promise<Engine> => this.ready();
    const ambient = new AmbientTransactions(
      () => this.#hostProviders.transactionHosts(),
      (manager) => this.#storage?.owns(manager) ?? false,
    );
    this.#subjects = new Subjects({ parts, ambient });
    this.#approvers = new Approvers(parts);
    this.#templates = new Templates(options.templates);
    const services = assembleServices(parts, {
      ready,
      stream: this.#stream,
      ambient,
      subjects: this.#subjects,
      contexts: this.#contexts,
      boundary: this.#boundary,
      gate: () => this.#authorization.operations(),
      approvers: this.#approvers,
      templates: this.#templates,
    });
    this.workflows = services.workflows;
    this.annotations = services.annotations;
    this.audit = services.audit;
    this.approvals = services.approvals;
    this.definitions = services.definitions;
    this.routes = services.routes;
    this.#children = services.children;
    this.#events = services.events;
    const { subjectOf } = this.#subjects;
    this.#entityEvents = new EntityEvents({ parts, events: this.#events, subjectOf });
    this.#triggered = services.triggered;
    this.wake = new WakeService(async (now) => (await ready()).runtime.pass.wake(now));
    this.host = new WorkflowHost(ready);
  }

  /** Finds the definitions and says all that is wrong with them. @throws InvalidDefinitionError, ForeignDecoratorError */
  prepare(): Promise<void> {
    return this.#prepared.get();
  }

  /** The engine on its open store. @throws what keeps it from opening; ShuttingDownError once the app closes */
  async ready(): Promise<Engine> {
    if (this.#closed || (this.#stopping && !this.#opened.begun))
      throw new ShuttingDownError({ what: 'A call to the workflow engine' });
    return this.#opened.get();
  }

  /** What lets callers of webhooks in, for a controller. */
  webhooks(settings: WebhookSettings): WebhookReceiver {
    return new WebhookReceiver(
      () => this.ready(),
      (start) => this.#triggered.start(start),
      this.#parts.log,
      settings,
    );
  }

  /** Resolves once what the host wrote so far has been touched. */
  touched(): Promise<void> {
    return this.#subjects.touched();
  }

  /** Sets in motion what moves by itself. */
  start(): Promise<void> {
    return this.#started.get();
  }

  /** Ends what was begun, within bounds. Never rejects. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #prepare(): Promise<void> {
    const { registry, lazyModules } = this.#parts;
    this.#hostProviders.complete();
    await registry.load();
    await this.#templates.check(graphWorkbench(registry, this.#parts.options).catalogue());
    this.#gate = this.#authorization.gate();
    this.#ownerContext = this.#findOwnerContext();
    this.#subjects.prepare();
    this.#approvers.prepare();
    lazyModules.watch();
  }

  #findOwnerContext(): OwnerContext | null {
    const { modules, options, resolver } = this.#parts;
    const { context } = options.owners;
    return typeof context === 'function' ? findOwnerContext(context, modules, resolver) : context;
  }

  async #open(): Promise<Engine> {
    await this.prepare();
    const { options, overrides, registry, log } = this.#parts;
    const open: OpenStorage = overrides.openStorage ?? openPostgresStorage;
    this.#subjects.open();
    const storage = await open(this.#parts);
    try {
      await storage.prepare();
      const drift = { store: storage.store, onDrift: options.onDrift, warn: (message: string) => log.warn(message) };
      await checkDrift(
        [...registry.definitions.values()].flatMap((versions) => [...versions.values()]),
        drift,
      );
      // Lazily loaded modules bring definitions later.
      registry.addCheck((definitions) => checkDrift(definitions, drift));
    } catch (error) {
      await storage.store.close().catch(() => undefined);
      throw error;
    }
    this.#storage = storage;
    const engine = this.#engineOn(storage);
    this.#entityEvents.watch();
    this.#subjects.watch(async (subject, ownerId) => {
      // There are no such runs then.
      if (ownerId === null && this.#parts.options.owners.rowLevelSecurity) return;
      const { resumed } = await this.#boundary.run(ownerId, () => engine.store.touch(subject, ownerId));
      if (resumed > 0) engine.announce({ work: true });
    });
    return engine;
  }

  #engineOn(storage: EngineStorage): Engine {
    const { overrides, registry, log } = this.#parts;
    const workbench = graphWorkbench(registry, this.#parts.options);
    const limits = turnLimits(this.#parts.options);
    const graphs = new PublishedGraphs({ store: storage.store, workbench, limits, log });
    // Asked by workers and relays, which any request may have woken.
    const ask = this.#parts.options.systemActor ?? ((): null => null);
    const systemActor = (): unknown => outsideOfRequests(ask);
    const options = { ...this.#parts.options, systemActor };
    const runtime = assembleRuntime({
      options,
      store: storage.store,
      notifier: storage.notifier,
      definitions: definitionSource(registry, graphs),
      contexts: this.#contexts,
      gate: this.#gate!,
      subjects: this.#subjects,
      approvals: this.#approvers.on(storage.store),
      subjectWriter: this.#subjects,
      sink: new RelaySink({ dispatcher: this.#dispatcher, registry, graphs, systemActor }),
      log,
      nextId: NEXT_ID,
      ...(overrides.crashes && { crashes: overrides.crashes }),
      startTriggered: (start) => this.#triggered.start(start),
      startChild: ({ job }, key, request) => {
        const { id: runId, depth, priority, subject } = job.run;
        return this.#children.start({ runId, depth, priority, subject, stageRunId: job.stageRun.id, key }, request);
      },
      emitEvent: ({ subject, ...event }) =>
        this.#events.emit({ ...event, ...(subject && { subject }) }, 'A node of type emit_event'),
      transactions: new OpenedTransactions(
        storage,
        () => this.#hostProviders.transactionHosts(),
        options.owners.rowLevelSecurity !== null,
      ),
      // A pid alone comes again: in the next container it is 1 too (fault C5).
      workerId: `${hostname()}-${process.pid}-${NEXT_ID()}`,
    });
    const background = overrides.background ?? true;
    return new Engine({
      storage,
      runtime,
      definitions: definitionLookup(registry, graphs),
      graphs: workbench,
      nextId: NEXT_ID,
      log,
      shutdownGraceMs: options.shutdownGraceMs,
      wakeEveryMs: background ? options.wake.everyMs : null,
      executes: background && options.worker !== null,
    });
  }

  async #start(): Promise<void> {
    const engine = await this.ready();
    if (this.#parts.overrides.background ?? true) await engine.start(this.#hostProviders.schedulerRegistry());
  }

  async #stop(): Promise<void> {
    this.#parts.lazyModules.unwatch();
    // A boot that hangs on its database must not keep the app from closing; what it opens later is closed then.
    const opened = this.#opened.settled().then(async (engine) => {
      await within(UNWATCH_MS, this.#subjects.unwatch());
      await engine?.stop();
      // Not before: what bodies and requests of the host write in the grace is for triggers too, and nobody else sees it.
      this.#entityEvents.unwatch();
    });
    await within(this.#parts.options.shutdownGraceMs + CLOSE_MS, opened);
    this.#closed = true;
    this.#stream.complete();
  }
}
