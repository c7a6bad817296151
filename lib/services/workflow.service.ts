import type { ContextCapture } from '../context/index.js';
import type { OwnerScope, SubjectName } from '../engine/ports/index.js';
import { InvalidOptionsError } from '../errors/index.js';
import type {
  EmitEvent,
  EmitResult,
  StartOptions,
  StartResult,
  TouchOptions,
  TouchResult,
  TransactionManager,
  WorkflowClass,
  WorkflowInput,
  WorkflowOutput,
} from '../interfaces/index.js';
import type { DryRun } from '../engine/dry-run/index.js';
import { readDryRun, type DryRunOptions } from './dry-run/dry-run-options.js';
import type { DryRunner } from './dry-run/dry-runner.js';
import type { EngineReady } from './engine-port.js';
import type { EventSender } from './messages/event-sender.js';
import type { SubjectToucher } from './messages/subject-toucher.js';
import { RunAccess, type RunAccessParts } from './runs/run-access.js';
import type { ResultOptions } from './runs/run-results.js';
import type { RunStarter } from './start/run-starter.js';
import type { TransactionJoiner } from './transaction/transaction-joiner.js';
import type { WorkflowOperator } from './workflow-operator.js';

/** One of the runs that `startMany` starts. */
export type StartManyItem<I = unknown> = { readonly input: I } & Omit<StartOptions, 'manager'>;

export interface StartManyOptions {
  /** Starts all of them inside this open transaction. @default each group of 500 commits by itself */
  readonly manager?: TransactionManager;
}

export interface WorkflowServiceParts extends RunAccessParts {
  readonly capture: ContextCapture;
  readonly starter: RunStarter;
  readonly joiner: TransactionJoiner;
  readonly sender: EventSender;
  readonly toucher: SubjectToucher;
  readonly operator: WorkflowOperator;
  readonly ready: EngineReady;
  readonly dryRunner: DryRunner;
}

/**
 * Starts workflows and looks after their runs, for the owner of the caller.
 *
 * Every method may be called from the app's bootstrap on, in a process with or without a worker. What is started is
 * committed when the call resolves; with `manager`, or inside an ambient transaction of @nestjs-cls/transactional, when
 * that transaction commits.
 *
 * @publicApi
 */
export class WorkflowService extends RunAccess {
  readonly #parts: WorkflowServiceParts;

  constructor(parts: WorkflowServiceParts) {
    super(parts);
    this.#parts = parts;
  }

  protected override async scopeOf(where: string): Promise<OwnerScope> {
    return { owner: await this.#parts.capture.owner({}, where) };
  }

  /**
   * Starts a run of the highest version served here. Owner and actor come from the caller's CLS unless given.
   *
   * Run, first stages and their jobs are written in one transaction. If the connection breaks in mid-call the run may
   * exist: with an `idempotencyKey` calling again is safe.
   *
   * @throws UnknownWorkflowError, InvalidInputError with the schema's issues, InvalidOptionsError, UndefinedIdError when
   * no owner comes out of `owners.resolve`, IdempotencyConflictError (strict keys), TransactionRequiredError
   */
  start<W extends WorkflowClass>(
    workflow: W,
    input: WorkflowInput<W>,
    options?: StartOptions,
  ): Promise<StartResult<WorkflowOutput<W>>>;
  start(id: string, input: unknown, options?: StartOptions): Promise<StartResult>;
  async start(workflow: WorkflowClass | string, input: unknown, options: StartOptions = {}): Promise<StartResult> {
    const items = [{ input, options }];
    const [result] = await this.#parts.starter.start({
      workflow,
      items,
      manager: options.manager,
      awaited: false,
      where: 'start',
    });
    return result!;
  }

  /**
   * Starts many runs of one workflow, answers in the same order. All are checked before the first is written; they are
   * written in groups of 500, each whole or not at all. A key that stands twice makes one run.
   *
   * If a group fails, those before it stay: give each an `idempotencyKey` and the call can be repeated.
   *
   * @throws as `start`; the message says which of them
   */
  startMany<W extends WorkflowClass>(
    workflow: W,
    starts: readonly StartManyItem<WorkflowInput<W>>[],
    options?: StartManyOptions,
  ): Promise<StartResult<WorkflowOutput<W>>[]>;
  startMany(id: string, starts: readonly StartManyItem[], options?: StartManyOptions): Promise<StartResult[]>;
  async startMany(
    workflow: WorkflowClass | string,
    starts: readonly StartManyItem[],
    { manager }: StartManyOptions = {},
  ): Promise<StartResult[]> {
    if (!Array.isArray(starts) || starts.some((item: unknown) => typeof item !== 'object' || item === null)) {
      const problems = [{ path: 'starts', message: 'must be a list of { input, … }' }];
      throw new InvalidOptionsError({ where: 'startMany', problems });
    }
    const items = starts.map(({ input, ...options }) => ({ input, options }));
    return this.#parts.starter.start({ workflow, items, manager, awaited: false, where: 'startMany' });
  }

  /**
   * Starts a run and resolves with its output. `timeout` and `signal` end the waiting, not the run.
   *
   * @throws as `start` and `result`; InvalidOptionsError inside a transaction, whose run nobody could execute before it
   * commits
   */
  startAndWait<W extends WorkflowClass>(
    workflow: W,
    input: WorkflowInput<W>,
    options?: Omit<StartOptions, 'manager'> & ResultOptions,
  ): Promise<WorkflowOutput<W>>;
  startAndWait(id: string, input: unknown, options?: Omit<StartOptions, 'manager'> & ResultOptions): Promise<unknown>;
  async startAndWait(
    workflow: WorkflowClass | string,
    input: unknown,
    { timeout, signal, ...options }: StartOptions & ResultOptions = {},
  ): Promise<unknown> {
    const where = 'startAndWait';
    if (this.#parts.joiner.isInside(options.manager)) {
      const message =
        'would wait for ever: nothing runs before the transaction commits. Use start() in it and result() after it';
      throw new InvalidOptionsError({ where, problems: [{ path: 'manager', message }] });
    }
    signal?.throwIfAborted();
    const [result] = await this.#parts.starter.start({ workflow, items: [{ input, options }], awaited: true, where });
    const { run, created } = result!;
    const scope = 'owner' in options ? { owner: options.owner ?? null } : await this.scopeOf(where);
    return this.#parts.results.result(run.id, scope, { timeout, signal, created }, where);
  }

  /**
   * Says what a run would do, and starts none: the path, node by node, what each would be given and do, and what cannot be known
   * without doing it. Nothing is written, no stage is called, nobody is told. Where the way depends on what is not known, it goes
   * on as usual and marks what follows; `outputs` and `outcomes` say it.
   *
   * @throws as `start`; InvalidOptionsError for what is said of nodes that there are not; what loading the owner or the subject throws
   */
  dryRun<W extends WorkflowClass>(workflow: W, input: WorkflowInput<W>, options?: DryRunOptions): Promise<DryRun>;
  dryRun(id: string, input: unknown, options?: DryRunOptions): Promise<DryRun>;
  async dryRun(workflow: WorkflowClass | string, input: unknown, options: DryRunOptions = {}): Promise<DryRun> {
    const where = 'dryRun';
    const read = readDryRun(options, where);
    const { dryRunner, ready } = this.#parts;
    const start = await dryRunner.read(read, where);
    const engine = await ready();
    const definition = await engine.definitions.find(workflow, undefined, start.captured.ownerId);
    return dryRunner.run(definition, input, read, start, { store: engine.store, nextId: engine.nextId, where });
  }

  /**
   * Tells of something that happened: every run of its owner that waits for it goes on (`ctx.step.waitForEvent`), those that
   * come to wait for it within `events.retention` too. Owner from the caller's CLS unless given.
   *
   * It is stored when the call resolves, or when the transaction commits; waits hear of it right after, one transaction each.
   *
   * @throws InvalidEventError with everything that is wrong; UndefinedIdError when no owner comes out of `owners.resolve`;
   * TransactionRequiredError
   */
  async emit(event: EmitEvent): Promise<EmitResult> {
    return this.#parts.sender.emit(event, 'emit');
  }

  /**
   * Says that a subject changed: polls (`ctx.step.waitFor`) of its owner's runs about it look again at once, instead of at their
   * next time. Owner from the caller's CLS unless given. Entities with `@WorkflowSubject` are touched by themselves when TypeORM
   * writes them; say it where that can't see: after plain SQL, query builders, or a change elsewhere.
   *
   * A stage that has just looked and is about to wait looks again too: no poll sleeps through a touch.
   *
   * @throws InvalidOptionsError, UndefinedIdError when no owner comes out of `owners.resolve`, TransactionRequiredError
   */
  async touch(subject: SubjectName, options: TouchOptions = {}): Promise<TouchResult> {
    return this.#parts.toucher.touch(subject, options, 'touch');
  }

  /** The same reads and commands over all owners, and the dead letters. Say it only where the caller was checked. */
  asOperator(): WorkflowOperator {
    return this.#parts.operator;
  }
}
