import { WorkflowError } from './workflow.error.js';

export interface MigrationsBehindParams {
  pending: readonly string[];
  schema?: string;
}

/** The tables are missing or older than the package: a boot error, never a quiet fallback. */
export class MigrationsBehindError extends WorkflowError<MigrationsBehindParams> {
  declare readonly code: 'MIGRATIONS_BEHIND';

  constructor(params: MigrationsBehindParams) {
    super('MIGRATIONS_BEHIND', params);
  }
}

export interface StoreUnavailableParams {
  /** What the engine was doing: "claiming jobs". */
  doing: string;
  reason?: string;
}

/** The database could not be reached. Retried: an outage is not the stage's fault. */
export class StoreUnavailableError extends WorkflowError<StoreUnavailableParams> {
  declare readonly code: 'STORE_UNAVAILABLE';

  constructor(params: StoreUnavailableParams, options?: { cause?: unknown }) {
    super('STORE_UNAVAILABLE', params, options);
  }
}

export type TransactionRequiredParams =
  | { code: 'ROOT_MANAGER'; method: string }
  | { code: 'ISOLATION_LEVEL'; method: string; isolation: string; hint?: string };

/** The given transaction cannot be joined; refused before anything was written (RUN-1). */
export class TransactionRequiredError extends WorkflowError<{ method: string; isolation?: string; hint?: string }> {
  declare readonly code: TransactionRequiredParams['code'];

  constructor({ code, ...params }: TransactionRequiredParams) {
    super(code, params);
  }
}

export interface UnsupportedDatabaseParams {
  database: string;
  version?: string;
  /** What is missing: "PostgreSQL 13 or later is needed". */
  needs: string;
}

/** The DataSource is of a kind or version that cannot hold workflows. */
export class UnsupportedDatabaseError extends WorkflowError<UnsupportedDatabaseParams> {
  declare readonly code: 'UNSUPPORTED_DATABASE';

  constructor(params: UnsupportedDatabaseParams) {
    super('UNSUPPORTED_DATABASE', params);
  }
}
