import type {
  AnnotateOptions,
  LogLevel,
  Outcome,
  RunInfo,
  Skipped,
  StageContext,
  StageInfo,
  StepApi,
  Suspended,
  SuspendOptions,
  TransactionOptions,
} from '../../interfaces/index.js';
import { InvalidStepError } from '../../errors/index.js';
import type { RuntimeLog } from '../background/runtime-log.js';
import type { Attempt } from './attempt.js';
import type { DefinitionSource } from './definition-source.js';
import { EarlierOutputs } from './earlier-outputs.js';
import type { AttemptSubject } from './attempt-subject.js';
import { outcome } from './outcome.js';
import { skipped } from './skipped.js';
import { inputOf } from './stage-input.js';
import { suspended } from './suspended.js';
import type { AttemptNotebook } from './attempt-notebook.js';
import { isInsideStep, type AttemptReplay } from '../steps/attempt-replay.js';

/** What an attempt's context is made of, beyond the attempt. */
export interface AttemptContextParts {
  readonly owner: unknown;
  readonly actor: unknown;
  readonly subject: AttemptSubject;
  readonly definitions: DefinitionSource;
  readonly log: RuntimeLog;
  readonly open: AttemptOpeners;
}

/** Make what most bodies don't ask for, when one does. */
export interface AttemptOpeners {
  readonly replay: (attempt: Attempt) => AttemptReplay;
  readonly notebook: (attempt: Attempt) => AttemptNotebook;
}

/** The `ctx` of a stage body. Everything that most bodies don't ask for is made when they do. */
export class AttemptContext implements StageContext {
  readonly input: any;
  readonly config: any;
  readonly stage: StageInfo;
  readonly attempt: number;
  readonly owner: unknown;
  readonly actor: unknown;
  /** The stage run's id: the same for every attempt, a manual retry included, and of no other stage run. */
  readonly idempotencyKey: string;
  readonly #attempt: Attempt;
  readonly #parts: AttemptContextParts;
  #run: RunInfo | undefined;
  #earlier: EarlierOutputs | undefined;

  constructor(attempt: Attempt, parts: AttemptContextParts, input: unknown) {
    const { job, served } = attempt;
    this.input = input;
    this.config = served.stage.config;
    this.owner = parts.owner;
    this.actor = parts.actor;
    this.attempt = job.stageRun.attempt;
    this.idempotencyKey = job.stageRun.id;
    this.stage = {
      id: served.stage.stage,
      runId: job.stageRun.id,
      key: served.stage.key,
      node: served.node.key,
    };
    this.#attempt = attempt;
    this.#parts = parts;
  }

  get run(): RunInfo {
    const { run } = this.#attempt.job;
    const { id, definitionId, definitionVersion, subject } = run;
    this.#run ??= {
      id,
      definition: definitionId,
      version: definitionVersion,
      subject,
      input: inputOf(run),
    };
    return this.#run;
  }

  subject(): Promise<any> {
    return this.#parts.subject.get();
  }

  get abortSignal(): AbortSignal {
    return this.#attempt.signal;
  }

  require(wanted: unknown): any {
    return this.#outputs().require(wanted);
  }

  optional(wanted: unknown): any {
    return this.#outputs().optional(wanted);
  }

  skip(reason: string): Skipped {
    return skipped(reason);
  }

  outcome(name: string, output: unknown): Outcome {
    return outcome(name, output);
  }

  /** Whether it makes durable calls: not in a cancel hook. */
  get isDurable(): boolean {
    return this.#attempt.job.kind === 'execute';
  }

  get step(): StepApi {
    // The face is typed by what bodies write; what it checks at run time is `Steps`' own affair.
    return this.#replay().steps as unknown as StepApi;
  }

  once(name: string, fn: (...args: any[]) => unknown): Promise<any> {
    return this.#replay().steps.once(name, fn);
  }

  transaction(name: string, fn: (manager: any) => unknown, options?: TransactionOptions): Promise<any> {
    return this.#replay().steps.transaction(name, fn, options);
  }

  recordWith(fn: (manager: any) => unknown): void {
    const problem = this.#refusedWrite(fn);
    if (problem) throw new InvalidStepError({ what: 'ctx.recordWith', problems: [{ path: 'fn', message: problem }] });
    (this.#attempt.writes ??= []).push(fn);
  }

  local<T>(fn: () => T | Promise<T>): Promise<T> {
    return this.#replay().replay.local(fn);
  }

  suspend(options: SuspendOptions): Suspended {
    return suspended(options);
  }

  log(message: string, level: LogLevel = 'log'): void {
    const { run, stageRun } = this.#attempt.job;
    const where = `[run ${run.id} stage ${stageRun.key} ${stageRun.id} attempt ${stageRun.attempt}]`;
    this.#parts.log[level](`${where} ${message}`);
    this.#notebook().line(level, String(message));
  }

  progress(done: number, total?: number, message?: string): void {
    this.#notebook().progress(done, total, message);
  }

  annotate(key: string, value: unknown, { scope = 'stage' }: AnnotateOptions = {}): void {
    this.#notebook().annotate(key, value, scope);
  }

  #refusedWrite(fn: unknown): string | undefined {
    if (typeof fn !== 'function') return `must be a function of the manager, and is of type ${typeof fn}`;
    if (this.#attempt.job.kind === 'cancel') return 'would go with an outcome, which a cancelled run has no more';
    // A replay answers from the ledger, and would leave it out.
    if (isInsideStep()) return 'is given inside a step, whose body no replay calls: give it in the body of the stage';
    return undefined;
  }

  #replay(): AttemptReplay {
    if (this.#attempt.job.kind === 'cancel')
      throw new InvalidStepError({ what: 'ctx in cancel(ctx)', problems: [IN_HOOK] });
    return (this.#attempt.replay ??= this.#parts.open.replay(this.#attempt));
  }

  #notebook(): AttemptNotebook {
    return (this.#attempt.notebook ??= this.#parts.open.notebook(this.#attempt));
  }

  #outputs(): EarlierOutputs {
    this.#earlier ??= new EarlierOutputs(this.#attempt.job, this.#attempt.served, this.#parts.definitions);
    return this.#earlier;
  }
}

const IN_HOOK = {
  path: 'step',
  message:
    'makes durable calls, which the stage of a cancelled run no longer can; do it plainly, the hook is tried again',
};
