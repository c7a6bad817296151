import type { INestApplicationContext, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { WORKFLOW_OVERRIDES, type WorkflowOverrides } from '../composition/overrides.js';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../composition/workflow-runtime.js';
import { StepCrashes } from '../runtime/steps/step-crashes.js';
import { parseDurationMs, type Duration } from '../engine/time/index.js';
import type { RunStatus } from '../engine/state/statuses.js';
import type {
  EmitEvent,
  RunHandle,
  SignalOptions,
  SignalResult,
  StartOptions,
  WorkflowClass,
  WorkflowInput,
  WorkflowModuleOptions,
  WorkflowOutput,
} from '../interfaces/index.js';
import type { RunHistoryView, WorkflowOperator } from '../services/index.js';
import { WorkflowModule } from '../workflow.module.js';
import { openMemoryStorage } from './memory-storage.js';
import { createTesterDatabase, openHostStorage, openStorageAt, type TesterDatabase } from './tester-database.js';
import { TimeTravel } from './time-travel.js';

type Imports = NonNullable<ModuleMetadata['imports']>;

export interface WorkflowTesterOptions {
  /**
   * The app, or the part of it that is tested; or, on PostgreSQL, a function of the database made for the tester, for
   * apps whose own tables should lie there too and whose transactions are joined.
   */
  readonly imports?: Imports | ((database: { readonly url: string }) => Imports);
  readonly providers?: Provider[];
  readonly controllers?: Type[];
  /**
   * `'postgres'`: a database of its own on the server that DATABASE_URL names, else on one that is started for it;
   * `'memory'`: no database at all, the same guarantees in one process. @default 'postgres'
   */
  readonly store?: 'postgres' | 'memory';
  /** Connection URL of a server for `'postgres'`, of a user who may create databases. @default DATABASE_URL, else one is started */
  readonly server?: string;
  /** Adds `WorkflowModule.forRoot` with these options: for imports that don't bring it. */
  readonly workflow?: WorkflowModuleOptions;
  /** Replaces providers, before the app is built. */
  readonly configure?: (builder: TestingModuleBuilder) => unknown;
  /**
   * Makes the app of the built module, before it is initialised: `(module) => module.createNestApplication()` for one that is to
   * listen. It is then `tester.app`. @default the module itself, which has no HTTP
   */
  readonly createApp?: (module: TestingModule) => INestApplicationContext;
}

/** What a drain, or a journey, did. */
export interface DrainReport {
  /** Stages that were run. */
  readonly processed: number;
}

/**
 * Tests workflows without waiting: the app with its real stages, in which nothing moves by itself. `drain` runs what is
 * due, `travel` moves the engine's clock.
 *
 * Reads as an operator: over all owners. `close` it in the end.
 *
 * @publicApi
 */
export class WorkflowTester {
  readonly #runtime: WorkflowRuntime;
  readonly #travel: TimeTravel;

  private constructor(
    /** The Nest app: `tester.app.get(MyService)`. */
    readonly app: INestApplicationContext,
    private readonly database: TesterDatabase | undefined,
    private readonly crashes: StepCrashes,
  ) {
    this.#runtime = app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false });
    this.#travel = new TimeTravel(this.#runtime);
  }

  /** @throws what keeps the app from booting; nothing is left open then */
  static async create(options: WorkflowTesterOptions = {}): Promise<WorkflowTester> {
    const { store = 'postgres', server, imports = [], workflow } = options;
    const database = store === 'postgres' ? await createTesterDatabase(server) : undefined;
    let app: INestApplicationContext | undefined;
    try {
      const given = typeof imports === 'function' ? imports({ url: database?.url ?? '' }) : imports;
      const builder = Test.createTestingModule({
        imports: [...given, ...(workflow ? [WorkflowModule.forRoot(workflow)] : [])],
        providers: options.providers ?? [],
        controllers: options.controllers ?? [],
      });
      const crashes = new StepCrashes();
      const overrides = { ...overridesOf(database, typeof imports === 'function'), crashes };
      builder.overrideProvider(WORKFLOW_OVERRIDES).useValue(overrides);
      options.configure?.(builder);
      const module = await builder.compile();
      app = options.createApp?.(module) ?? module;
      await app.init();
      return new WorkflowTester(app, database, crashes);
    } catch (error) {
      await app?.close().catch(() => undefined);
      await database?.drop();
      throw error;
    }
  }

  /** Starts a run; nothing of it runs before `drain`. */
  async start<W extends WorkflowClass>(
    workflow: W,
    input: WorkflowInput<W>,
    options?: StartOptions,
  ): Promise<RunHandle<WorkflowOutput<W>>>;
  async start(id: string, input: unknown, options?: StartOptions): Promise<RunHandle>;
  async start(workflow: WorkflowClass | string, input: unknown, options?: StartOptions): Promise<RunHandle> {
    const { run } = await this.#runtime.workflows.start(workflow as WorkflowClass, input as never, options);
    return run;
  }

  /**
   * Runs whatever is due, and what follows from it, until nothing is; events are delivered too.
   *
   * @throws Error when a part of a wake pass failed, or when it never comes to an end
   */
  drain(): Promise<DrainReport> {
    return this.#travel.drain();
  }

  /**
   * Emits an event, and runs whatever waited for it. Waits hear of events of their own owner: `owner`, where runs have one.
   *
   * @throws as `WorkflowService.emit` and `drain`
   */
  async deliver(event: EmitEvent): Promise<DrainReport> {
    await this.#runtime.workflows.emit(event);
    return this.drain();
  }

  /**
   * Sends a signal to a run; nothing of it goes on before `drain`.
   *
   * @throws as `WorkflowService.signal`
   */
  signal(run: RunHandle | string, name: string, payload?: unknown, options?: SignalOptions): Promise<SignalResult> {
    return this.#operator.signal(run, name, payload, options);
  }

  /**
   * Lets the process die, as far as the stage can tell, at the next end of a step of this name: its body has run, and the
   * outcome is recorded (or, with `recorded: false`, is not). Nothing more of the attempt is written.
   *
   * What it held is found when its leases are over: `travel('10 min')` after the drain in which it died. A step whose outcome
   * was not recorded runs again then, under the same `idempotencyKey`.
   */
  crashAfter(step: string, { recorded = true }: { readonly recorded?: boolean } = {}): void {
    this.crashes.arm(step, recorded ? 'recorded' : 'unrecorded');
  }

  /** Moves the clock on, stopping at each instant at which something becomes due to run it. Drains first and last. */
  travel(duration: Duration): Promise<DrainReport> {
    return this.#travel.forward(parseDurationMs(duration, 'travel'));
  }

  async status(run: RunHandle | string): Promise<RunStatus> {
    return (await this.#operator.get(run)).status;
  }

  /** The engine's present instant: the database's clock, and how far it was travelled. */
  async now(): Promise<Date> {
    return new Date(await (await this.#runtime.ready()).store.now());
  }

  /** Everything that happened in the run. */
  history(run: RunHandle | string): Promise<RunHistoryView> {
    return this.#operator.history(run);
  }

  /** The output of a run that has ended; drain before, a run that goes on is not waited for. */
  async result<O>(run: RunHandle<O>): Promise<O> {
    return this.#operator.result(run, { timeout: 0 });
  }

  /** Closes the app and drops the database. */
  async close(): Promise<void> {
    await this.app.close();
    await this.database?.drop();
  }

  get #operator(): WorkflowOperator {
    return this.#runtime.workflows.asOperator();
  }
}

function overridesOf(database: TesterDatabase | undefined, hostIsThere: boolean): WorkflowOverrides {
  if (!database) return { background: false, openStorage: openMemoryStorage };
  return { background: false, openStorage: hostIsThere ? openHostStorage : openStorageAt(database.url) };
}
