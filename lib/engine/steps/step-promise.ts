/** Is told what is done with a promise, and what became of it. */
export interface PromiseWatch {
  /** Somebody asks what kind of promise it is: `await`, or a combinator that calls `then` in the same breath. */
  inspected(): void;
  /** Returns the watch of the promise that comes of it; undefined where that is nobody's, as a combinator's is. */
  chained(onFulfilled: unknown, onRejected: unknown): PromiseWatch | undefined;
  fulfilled(): void;
  failed(error: unknown): void;
}

/** A promise, and the functions that settle it. */
export interface Settleable<T> {
  readonly promise: StepPromise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The promise of a durable call: tells when it is awaited, and so do those that the body derives from it.
 *
 * `await` of a native promise calls no `then`; it only reads `constructor`. So does `Promise.race`, which then calls `then` with
 * functions that all its members share. Both are seen here.
 *
 * None of them ends the process as an unhandled rejection: its failure is the watch's to tell of.
 */
export class StepPromise<T> extends Promise<T> {
  #watch: PromiseWatch | undefined;
  /** What its `then` makes, while it does. */
  #making: PromiseConstructor | undefined;

  /** A promise with its settling functions, watched from now on. */
  static watched<T>(watch: PromiseWatch): Settleable<T> {
    let resolve!: Settleable<T>['resolve'];
    let reject!: Settleable<T>['reject'];
    const promise = new StepPromise<T>((fulfil, refuse) => {
      resolve = fulfil;
      reject = refuse;
    });
    promise.#watchedBy(watch);
    return { promise, resolve, reject };
  }

  /** What `constructor` reads. @internal */
  inspect(): PromiseConstructor {
    if (this.#making) return this.#making;
    this.#watch?.inspected();
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    // oxlint-disable-next-line typescript/no-explicit-any -- as Promise has it
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const watch = this.#watch?.chained(onFulfilled, onRejected);
    this.#making = watch ? StepPromise : Promise;
    try {
      const derived = super.then(onFulfilled, onRejected);
      if (watch) (derived as StepPromise<A | B>).#watchedBy(watch);
      return derived;
    } finally {
      this.#making = undefined;
    }
  }

  /** By `then` with functions that can be told from a combinator's: those of the built-in one can't. */
  override finally(onFinally?: (() => void) | null): Promise<T> {
    if (typeof onFinally !== 'function') return this.then();
    return this.then(
      async (value) => {
        await onFinally();
        return value;
      },
      async (error) => {
        await onFinally();
        throw error;
      },
    );
  }

  #watchedBy(watch: PromiseWatch): void {
    void this.then(
      () => watch.fulfilled(),
      (error: unknown) => watch.failed(error),
    );
    this.#watch = watch;
  }
}

Object.defineProperty(StepPromise.prototype, 'constructor', {
  configurable: true,
  get(this: StepPromise<unknown>) {
    return this.inspect();
  },
});
