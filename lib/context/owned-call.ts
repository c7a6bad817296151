import { OwnerContextMisusedError } from '../errors/index.js';

type Settled<T> = { readonly value: T } | { readonly error: unknown };

/** Nobody waits for it any more: it fell asleep, or can't go on. */
const DROPPED = Symbol('dropped');

/** One function that is given to a host's OwnerContext: how often it was called, and what came of it. */
export class OwnedCall<T> {
  readonly #ownerId: string | null;
  readonly #fn: () => Promise<T>;
  readonly #dropped: Promise<typeof DROPPED> | undefined;
  #calls = 0;
  #result: Promise<T> | undefined;
  #closed = false;

  /** @param dropped resolves when `fn` is waited for no longer though it has not ended */
  constructor(ownerId: string | null, fn: () => Promise<T>, dropped: Promise<unknown> | undefined) {
    this.#ownerId = ownerId;
    this.#fn = fn;
    this.#dropped = dropped?.then(() => DROPPED);
  }

  /** What the host calls. A second time, and once all is over, nothing is done. */
  readonly call = (): Promise<T> => {
    this.#calls += 1;
    if (this.#closed || this.#calls > 1) return handled(Promise.reject(this.#misused()));
    this.#result = handled(this.#fn());
    // A body that sleeps never ends: what the host took for it would never be given back.
    return this.#dropped ? (Promise.race([this.#result, this.#dropped]) as Promise<T>) : this.#result;
  };

  /** The host's context has ended, by itself or with a failure: what came of the function, which is waited for if the host did not. */
  async end(failure: { readonly error: unknown } | undefined): Promise<T> {
    const result = this.#result;
    if (!result) {
      this.#closed = true;
      throw failure ? failure.error : this.#misused();
    }
    const settled = await this.#settled(result);
    this.#closed = true;
    const cause = settled !== DROPPED && 'error' in settled ? settled : failure;
    if (this.#calls > 1) throw this.#misused(cause?.error);
    if (cause) throw cause.error;
    return settled === DROPPED ? result : (settled as { readonly value: T }).value;
  }

  #settled(result: Promise<T>): Promise<Settled<T> | typeof DROPPED> {
    const settled = result.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    return this.#dropped ? Promise.race([settled, this.#dropped]) : settled;
  }

  #misused(cause?: unknown): OwnerContextMisusedError {
    const how = this.#calls === 0 ? 'not at all' : this.#closed && this.#calls === 1 ? 'too late' : 'more than once';
    return new OwnerContextMisusedError({ owner: this.#ownerId, how }, { cause });
  }
}

/** A host that does not await it must not end the process. */
function handled<P extends Promise<unknown>>(promise: P): P {
  promise.catch(() => undefined);
  return promise;
}
