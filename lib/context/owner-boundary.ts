import type { OwnerContext } from '../interfaces/index.js';
import { OwnedCall } from './owned-call.js';

/**
 * Where something begins to run for an owner, and ends: inside the host's OwnerContext, if there is one, which is held to its
 * word (OWNER-2).
 */
export class OwnerBoundary {
  readonly #context: () => OwnerContext | null;

  /** @param context asked for at each call: the host's providers come later than the services. @default none */
  constructor(context: () => OwnerContext | null = () => null) {
    this.#context = context;
  }

  /** Whether the host has a context of its own; without one `run` only calls. */
  get guarded(): boolean {
    return this.#context() !== null;
  }

  /**
   * Resolves with what `fn` comes to, after it and the host's context have ended.
   *
   * @param dropped made where it is needed; resolves when `fn` is waited for no longer though it has not ended
   * @throws what `fn` throws, else what the host's context throws; OwnerContextMisusedError when that did not call it once
   */
  run<T>(ownerId: string | null, fn: () => Promise<T>, dropped?: () => Promise<unknown>): Promise<T> {
    const context = this.#context();
    return context === null ? fn() : this.#runWithin(context, ownerId, fn, dropped);
  }

  async #runWithin<T>(
    context: OwnerContext,
    ownerId: string | null,
    fn: () => Promise<T>,
    dropped: (() => Promise<unknown>) | undefined,
  ): Promise<T> {
    const owned = new OwnedCall(ownerId, fn, dropped?.());
    let failure: { readonly error: unknown } | undefined;
    try {
      await context.run({ id: ownerId }, owned.call);
    } catch (error) {
      failure = { error };
    }
    return owned.end(failure);
  }
}
