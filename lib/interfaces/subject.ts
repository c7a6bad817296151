import type { SubjectName } from '../engine/ports/step-store.js';
import type { SubjectLifecycle } from './lifecycle.js';
import type { TransactionManager } from './run-handle.js';

/**
 * Loads what runs are about, by the names of one type: a provider, or an object, under `subjects.resolvers` of the module.
 *
 * Asked before each call of a stage, inside the run's owner context: keep it to one read. What it throws fails the attempt, which
 * is retried as any other.
 *
 * @publicApi
 */
export interface SubjectResolver<T extends object = any> {
  /**
   * The subject, or null where it does not exist. One that belongs to another owner reads as missing: return null for it, or
   * have `ownerOf` say whose it is.
   */
  load(subject: SubjectName, context: SubjectLoadContext): T | null | undefined | Promise<T | null | undefined>;
  /**
   * Stored id of whoever owns a subject that `load` returned. With it a subject whose owner has changed since the run started
   * is told from a missing one (`OWNER_MISMATCH`); without it, whatever `load` returns is the owner's.
   */
  ownerOf?(subject: T): string | null;
}

/** For whom a subject is loaded. */
export interface SubjectLoadContext {
  /** Stored id of the run's owner; null = nobody. */
  readonly ownerId: string | null;
  /** At a start that takes part in a transaction of the host's: its manager, which sees what it has written. */
  readonly manager?: TransactionManager;
}

/** What `@WorkflowSubject` takes; `K`: names of properties of the entity. */
export interface WorkflowSubjectOptions<K extends string = string> {
  /** What runs call it: `start(…, { subject: { type: 'expense', id } })`. */
  readonly type: string;
  /** The property that holds the stored id of its owner: a column of its own. @default entities of this class belong to nobody */
  readonly owner?: K;
  /** Columns that expressions of graphs may read; policies and bodies get the whole entity. @default none */
  readonly fields?: readonly K[];
  /** Columns that nodes of type `set_field` may write; never its key or its owner. @default none */
  readonly writable?: readonly K[];
  /** What nodes of type `transition` may move, by name. @default nothing */
  readonly lifecycles?: Readonly<Record<string, SubjectLifecycle>>;
}
