import type { PromiseWatch } from './step-promise.js';
import { Given, isNative, type Unattended } from './unattended.js';

type Reaction = (value: unknown) => unknown;

/**
 * Whether anybody still waits for a call, as far as JavaScript lets one see.
 *
 * `Promise.race` gives the same two functions to all its members, `any` the same first one, `all` the same second one: once one
 * member has called a shared function, the others are waited for in vain by it. That is how losers are known (STEP-5).
 * A member that is awaited inside an async function which itself races can't be told from one that is wanted.
 */
export class Interest extends Given {
  #awaits = 0;
  #inspected = false;
  readonly #chains: { readonly fulfil: Reaction | undefined; readonly reject: Reaction | undefined }[] = [];

  constructor(
    private readonly called: CalledReactions,
    private readonly of: InterestOf,
    unattended: Unattended,
  ) {
    super(unattended, of.what, of.holds);
  }

  get wanted(): boolean {
    return (
      this.#awaits > 0 ||
      // Awaited in the body's place.
      (this.unattended.returned && this.holds && this.unattended.has(this)) ||
      this.#chains.some(({ fulfil, reject }) => !this.called.has(fulfil) && !this.called.has(reject))
    );
  }

  override inspected(): void {
    super.inspected();
    this.#awaits++;
    this.#inspected = true;
    queueMicrotask(() => (this.#inspected = false));
    this.of.onChange();
  }

  override chained(onFulfilled: unknown, onRejected: unknown): PromiseWatch | undefined {
    // A combinator's look at `constructor`, just before: this is the same interest.
    if (this.#inspected) {
      this.#inspected = false;
      this.#awaits--;
    }
    this.#chains.push({ fulfil: sharable(onFulfilled), reject: sharable(onRejected) });
    this.of.onChange();
    return super.chained(onFulfilled, onRejected);
  }

  /** The call was fulfilled or rejected: reactions that it shares with others have been called. */
  settled(how: 'fulfil' | 'reject'): void {
    for (const chain of this.#chains) this.called.add(chain[how]);
  }
}

/** Reactions of combinators that have been called, of one body. */
export class CalledReactions {
  readonly #called = new WeakSet<Reaction>();

  has(reaction: Reaction | undefined): boolean {
    return reaction !== undefined && this.#called.has(reaction);
  }

  add(reaction: Reaction | undefined): void {
    if (reaction) this.#called.add(reaction);
  }
}

/** Anybody's own handler may be given to many promises, and means nothing. */
const sharable = (reaction: unknown): Reaction | undefined => (isNative(reaction) ? reaction : undefined);

/** The call that the interest is in. */
export interface InterestOf {
  readonly what: string;
  /** The stage does not end before it does, even where nobody awaits it. */
  readonly holds: () => boolean;
  readonly onChange: () => void;
}
