import type { LedgerRow, OpenWait, StepKind } from '../ports/step-store.js';
import { Interest, type CalledReactions } from './interest.js';
import { StepPromise } from './step-promise.js';
import type { Unattended } from './unattended.js';

/** What one kind of durable call does. */
export interface StepPlan<T> {
  readonly key: string;
  readonly name: string;
  readonly kind: StepKind;
  /** Begins what there is to begin: nothing stands in the ledger, or what stands there may be begun again. */
  begin(call: AnyCall): void;
  /** How it is written when it waits. */
  wait(call: AnyCall): OpenWait;
  /** What the body is given. Throws what the body is to catch. */
  outcome(row: LedgerRow): T;
}

/**
 * - `asked`: the ledger has not been looked at.
 * - `busy`: a body, a poll or a write of it is under way in this process.
 * - `waiting`: something outside ends it.
 * - `blocked`: its body runs elsewhere.
 * - `done`: its outcome is written; the body hasn't got it yet.
 * - `delivered`.
 */
export type CallPhase = 'asked' | 'busy' | 'waiting' | 'blocked' | 'done' | 'delivered';

/** One durable call of a body, from when it is made until the body has its outcome. */
export class StepCall<T = unknown> {
  phase: CallPhase = 'asked';
  row: LedgerRow | undefined;
  /** Its open wait stands in the store. */
  saved = false;
  /** The epoch under which that was written. */
  savedEpoch = -1;
  /** How many outcomes the body had when it last did something with the promise. */
  epoch = 0;
  readonly promise: StepPromise<T>;
  readonly interest: Interest;
  readonly #resolve: (value: T | PromiseLike<T>) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    readonly plan: StepPlan<T>,
    called: CalledReactions,
    unattended: Unattended,
    onInterest: () => void,
  ) {
    const of = { what: `step "${plan.name}"`, holds: () => this.#holds, onChange: onInterest };
    this.interest = new Interest(called, of, unattended);
    const { promise, resolve, reject } = StepPromise.watched<T>(this.interest);
    this.promise = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Does something: its body, or the transaction of the host's, is what the stage was written for. */
  get acts(): boolean {
    const { kind } = this.plan;
    return kind === 'run' || kind === 'once' || kind === 'transaction';
  }

  /** A child is to be started; its end is waited for by who awaits it. What failed is to be told of. */
  get #holds(): boolean {
    return this.acts || this.phase === 'delivered' || (this.plan.kind === 'child' && this.phase !== 'waiting');
  }

  get key(): string {
    return this.plan.key;
  }

  /** A wait that somebody waits for. */
  get wanted(): boolean {
    return (this.phase === 'waiting' || this.phase === 'blocked') && this.interest.wanted;
  }

  fulfil(value: T): void {
    this.phase = 'delivered';
    this.interest.settled('fulfil');
    this.#resolve(value);
  }

  refuse(error: unknown): void {
    this.phase = 'delivered';
    this.interest.settled('reject');
    this.#reject(error);
  }
}

/** A call whose outcome is nobody's concern but its body's. */
export type AnyCall = StepCall<unknown>;
