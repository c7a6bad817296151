/** What a step's promise tells of what is done with it. */
export interface PromiseWatch {
  /** Somebody asks what kind of promise it is: `await`, or a combinator that calls `then` in the same breath. */
  inspected(): void;
  chained(onFulfilled: unknown, onRejected: unknown): void;
}

/**
 * The promise of a durable call: tells when it is awaited.
 *
 * `await` of a native promise calls no `then`; it only reads `constructor`. So does `Promise.race`, which then calls `then` with
 * functions that all its members share. Both are seen here; what is derived from it is a plain promise.
 */
export class StepPromise<T> extends Promise<T> {
  #watch: PromiseWatch | undefined;
  #chaining = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** A promise with its settling functions, watched from now on. */
  static watched<T>(watch: PromiseWatch): {
    promise: StepPromise<T>;
    resolve: (value: T) => void;
    reject: (error: unknown) => void;
  } {
    let resolve!: (value: T) => void;
    let reject!: (error: unknown) => void;
    const promise = new StepPromise<T>((fulfil, refuse) => {
      resolve = fulfil;
      reject = refuse;
    });
    // A failure that comes before anybody awaits it must not end the process as an unhandled rejection.
    promise.then(undefined, () => undefined);
    promise.#watch = watch;
    return { promise, resolve, reject };
  }

  /** @internal for the `constructor` property below */
  inspect(): void {
    if (!this.#chaining) this.#watch?.inspected();
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    // oxlint-disable-next-line typescript/no-explicit-any -- as Promise has it
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#watch?.chained(onFulfilled, onRejected);
    this.#chaining = true;
    try {
      return super.then(onFulfilled, onRejected);
    } finally {
      this.#chaining = false;
    }
  }
}

Object.defineProperty(StepPromise.prototype, 'constructor', {
  configurable: true,
  get(this: StepPromise<unknown>) {
    this.inspect();
    return Promise;
  },
});
