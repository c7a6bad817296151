import { decodeJson } from '../../engine/codec/index.js';
import type { RunInfo, Skipped, StageContext, StageInfo } from '../../interfaces/index.js';
import type { RuntimeLog } from '../background/runtime-log.js';
import type { Attempt } from './attempt.js';
import type { DefinitionSource } from './definition-source.js';
import { EarlierOutputs } from './earlier-outputs.js';
import { skipped } from './skipped.js';

/** What an attempt's context is made of, beyond the attempt. */
export interface AttemptContextParts {
  readonly input: unknown;
  readonly owner: unknown;
  readonly actor: unknown;
  readonly definitions: DefinitionSource;
  readonly log: RuntimeLog;
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

  constructor(attempt: Attempt, parts: AttemptContextParts) {
    const { job, served } = attempt;
    this.input = parts.input;
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
    const { id, definitionId, definitionVersion, input } = this.#attempt.job.run;
    this.#run ??= {
      id,
      definition: definitionId,
      version: definitionVersion,
      input: decodeJson(input, `The input of run ${id}`),
    };
    return this.#run;
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

  log(message: string): void {
    const { run, stageRun } = this.#attempt.job;
    this.#parts.log.log(`[run ${run.id} stage ${stageRun.key} ${stageRun.id} attempt ${stageRun.attempt}] ${message}`);
  }

  #outputs(): EarlierOutputs {
    this.#earlier ??= new EarlierOutputs(this.#attempt.job, this.#attempt.served, this.#parts.definitions);
    return this.#earlier;
  }
}
