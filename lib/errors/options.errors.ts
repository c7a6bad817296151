import { WorkflowError } from './workflow.error.js';

/** One wrong option: where it stands and what is wrong with it. */
export interface OptionProblem {
  path: string;
  message: string;
}

export interface InvalidOptionsParams {
  /** Who got the options. @default 'WorkflowModule' */
  where?: string;
  problems: readonly OptionProblem[];
}

/** Options of the module, a decorator or a call are wrong; lists all problems at once. */
export class InvalidOptionsError extends WorkflowError<Required<InvalidOptionsParams>> {
  declare readonly code: 'INVALID_OPTIONS';

  constructor({ where = 'WorkflowModule', problems }: InvalidOptionsParams) {
    super('INVALID_OPTIONS', { where, problems });
  }

  get problems(): readonly OptionProblem[] {
    return this.params.problems;
  }
}

export interface DataSourceNotFoundParams {
  /** The name that was looked for; the unnamed DataSource when left out. */
  dataSource?: string;
  known?: readonly string[];
}

/** The module found no TypeORM DataSource to keep its tables in. */
export class DataSourceNotFoundError extends WorkflowError<DataSourceNotFoundParams> {
  declare readonly code: 'DATA_SOURCE_NOT_FOUND';

  constructor(params: DataSourceNotFoundParams = {}) {
    super('DATA_SOURCE_NOT_FOUND', params);
  }
}

export interface InvalidDurationParams {
  /** What the duration was meant for, an option's path for example. */
  what: string;
  /** The value as it is shown, quoted when it was a text. */
  value: string;
  reason?: string;
}

/** A duration cannot be read; its message says what to write instead. */
export class InvalidDurationError extends WorkflowError<InvalidDurationParams> {
  declare readonly code: 'INVALID_DURATION';

  constructor(params: InvalidDurationParams) {
    super('INVALID_DURATION', params);
  }
}
