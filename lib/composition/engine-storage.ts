import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { Hint, JoinedTransaction, Notifier, WorkflowStore } from '../engine/ports/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import type { TransactionManager } from '../interfaces/index.js';

/** A store that is open, with what belongs to it. */
export interface EngineStorage {
  readonly store: WorkflowStore;
  readonly notifier: Notifier;
  /** Applies migrations or checks that none is missing, as the options say. @throws MigrationsBehindError */
  prepare(): Promise<void>;
  /** Tells other processes when the host's transaction commits. */
  announceWithin(transaction: JoinedTransaction, hint: Hint): Promise<void>;
  /** Runs `work` in a READ COMMITTED transaction on the DataSource that the engine was given. */
  inTransaction<T>(work: (manager: TransactionManager) => Promise<T>): Promise<T>;
  /** Whether a manager's transaction is one of the database that holds the tables. */
  owns(manager: TransactionManager): boolean;
}

export interface StorageRequest {
  readonly options: ResolvedWorkflowOptions;
  readonly moduleRef: ModuleRef;
  readonly modules: ModulesContainer;
}

/** Opens a store; called once, and again after it failed. */
export type OpenStorage = (request: StorageRequest) => Promise<EngineStorage>;
