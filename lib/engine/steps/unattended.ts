import type { PromiseWatch } from './step-promise.js';

/**
 * The promises that a body was given and has done nothing with: not awaited, not given to a combinator, or given a `then` or
 * `catch` whose own promise nobody looks at (STEP-5).
 *
 * What can be told is whether a promise was looked at, not whether its failure was handled. So that is the line: what was looked at
 * is the body's affair; the rest the engine awaits in its place, once it has returned.
 */
export class Unattended {
  readonly #given = new Set<Given>();
  #returned = false;
  #onlyWaits = false;
  #tell: () => void = () => undefined;

  /** The body has returned: from now on its place is taken. */
  get returned(): boolean {
    return this.#returned;
  }

  get any(): boolean {
    return this.#given.size > 0;
  }

  has(given: Given): boolean {
    return this.#given.has(given);
  }

  add(given: Given): void {
    this.#given.add(given);
  }

  drop(given: Given): void {
    this.#given.delete(given);
    this.#tell();
  }

  /** Something may have changed about what holds the stage up. */
  look(): void {
    this.#tell();
  }

  /** Nothing is left but waits, and what comes after them: they hold nothing up. */
  onlyWaits(): void {
    this.#onlyWaits = true;
    this.#tell();
  }

  /** Those that failed, in the order in which they were given. */
  get failed(): readonly FailedGiven[] {
    return [...this.#given].filter((given): given is FailedGiven => given.failure !== undefined);
  }

  /** Resolves once all of it has ended, as it may have failed, or has nothing left to wait for but waits. */
  async ended(): Promise<void> {
    this.#returned = true;
    while (!this.#onlyWaits && this.#holdUp()) await new Promise<void>((resolve) => (this.#tell = resolve));
  }

  #holdUp(): boolean {
    for (const given of this.#given) if (!given.failure && given.holds) return true;
    return false;
  }
}

/** One promise that the body was given, until it is looked at. */
export class Given implements PromiseWatch {
  failure: { readonly error: unknown } | undefined;

  constructor(
    protected readonly unattended: Unattended,
    /** What it is of, for people. */
    readonly what: string,
    private readonly mayHold: () => boolean = () => true,
  ) {
    unattended.add(this);
  }

  /** The stage does not end before it does. */
  get holds(): boolean {
    return this.mayHold();
  }

  inspected(): void {
    this.unattended.drop(this);
  }

  chained(onFulfilled: unknown, onRejected: unknown): PromiseWatch | undefined {
    this.unattended.drop(this);
    const native = isNative(onFulfilled) || isNative(onRejected);
    if (native && !isOwn(onFulfilled) && !isOwn(onRejected)) return undefined;
    // Half of it settles another promise, by hand, perhaps in a race: that one is what is awaited, or is not.
    return new Given(this.unattended, this.what, () => !native);
  }

  fulfilled(): void {
    this.unattended.drop(this);
  }

  failed(error: unknown): void {
    this.failure = { error };
    this.unattended.look();
  }
}

type FailedGiven = Given & { readonly failure: { readonly error: unknown } };

const isOwn = (reaction: unknown): boolean => typeof reaction === 'function' && !isNative(reaction);

/** Functions of combinators, and those that settle a promise, are nameless and native: what comes of them nobody keeps. */
export function isNative(reaction: unknown): reaction is (value: unknown) => unknown {
  if (typeof reaction !== 'function' || reaction.name !== '') return false;
  return Function.prototype.toString.call(reaction).includes('[native code]');
}
