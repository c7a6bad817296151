import type { JsonText } from '../state/rows.js';
import type { LedgerRow, OpenWait, StepOrder, StepVerdict, StepWrite } from '../ports/step-store.js';
import type { Random } from '../retry/index.js';

/** A write of this attempt: the journal adds whose it is. */
export type AttemptWrite = WithoutLease<StepWrite>;
type WithoutLease<W> = W extends unknown ? Omit<W, 'lease'> : never;

/** The ledger of one attempt. What it rejects with ends the replay: the attempt can't go on. */
export interface StepJournal {
  /** All rows of the stage run, in the order of delivery. */
  load(): Promise<readonly LedgerRow[]>;
  write(write: AttemptWrite): Promise<StepVerdict>;
  /** One outcome's transactions, done one after the other until one of them is not `busy`. */
  commits(): CommitWith;
  /**
   * Waits of a body that goes on stand in the store now: sees to it that they end in time. True: something of them has ended, since
   * what it waits for was there already.
   */
  waiting(waits: readonly OpenWait[]): Promise<boolean>;
  /** The digest that an effect is kept under, and its result when there is one (STEP-8). */
  readEffect(name: string): Promise<{ readonly digest: Buffer; readonly result: JsonText | undefined }>;
}

/**
 * Calls `body` in a transaction of the host's; what it resolves with is written as the last of it, and nothing commits
 * unless that is `written`. Undefined: rolled back, `not-fenced`. `busy`: rolled back for now, to be done again.
 * `settled`: the row has an outcome; that of a commit, perhaps, whose answer was lost.
 *
 * Rejects, after the rollback, with what `body` or the commit failed with, or with what made it `busy` too often.
 */
export type CommitWith = (body: (manager: unknown) => Promise<AttemptWrite | undefined>) => Promise<StepVerdict>;

/** What a replay needs of the process it runs in: time, and what is known of its attempt. */
export interface ReplayHost {
  readonly journal: StepJournal;
  readonly random: Random;
  /** Resolves after a macrotask. */
  tick(): Promise<void>;
  /** Resolves after so many milliseconds of this process; rejects when that ends, and nothing is waited for any more. */
  pause(ms: number): Promise<void>;
  /** Calls a step's body in such a way that `insideStep` holds in all that it calls. */
  inside<T>(step: string, body: () => T): T;
  /** The step whose body calls now, if one does. */
  readonly insideStep: string | undefined;
  readonly signal: AbortSignal;
  /** The run ended, or another worker has the stage: nothing more may be begun, and after a lost lease nothing written. */
  readonly aborted: 'cancelled' | 'lease-lost' | undefined;
  /** Shutdown has begun: what throws now may throw because the host's own clients are closed (LEASE-6). */
  readonly draining: boolean;
  /** A body of this attempt holds a step: its lease is extended until `done`. */
  holding(key: string, leaseMs: number): { done(): void };
  /** Present instant in milliseconds, for a `retryAfter` that is a Date. */
  now(): number;
  encode(value: unknown, what: string): JsonText;
  idempotencyKey(key: string): string;
  warn(message: string): void;
  /** The body is to be dropped. Called once. */
  stop(stop: ReplayStop): void;
}

export type ReplayStop =
  | { readonly kind: 'suspended'; readonly suspension: Suspension }
  /** The attempt is over in the store: its run ended or another worker has it. */
  | { readonly kind: 'unfenced' }
  /** A test lets its process die here. */
  | { readonly kind: 'crashed' }
  /** The process shuts down, and something failed that may only have failed for that: nothing of it is recorded. */
  | { readonly kind: 'shutdown' }
  /** The ledger can't be read or written. */
  | { readonly kind: 'broken'; readonly error: unknown };

/** A body with nothing to do but wait. */
export interface Suspension {
  readonly waits: readonly OpenWait[];
  readonly keep: readonly string[];
  readonly orders: readonly StepOrder[];
}
