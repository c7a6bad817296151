import type { ClsScope } from './cls-scope.service.js';
import type { ExecutionContext } from './context-values.js';
import { OwnerBoundary } from './owner-boundary.js';

export interface ContextRunnerOptions {
  /** Makes the owner that bodies see of the stored id. @default the id itself */
  readonly loadOwner?: (id: string) => unknown;
  /** Around loading and execution. @default the host has none */
  readonly boundary?: OwnerBoundary;
}

/**
 * Opens the context of one execution: a stage body, a cancel hook, an event handler.
 *
 * The context begins empty and ends with `fn`, so that a warm worker carries nothing from one run to the next, nor to the
 * caller who happened to wake it. The owner is loaded once per execution, inside the context; what loading throws is what
 * `run` rejects with, and `fn` is not called then.
 */
export class ContextRunner {
  readonly #scope: ClsScope;
  readonly #loadOwner: (id: string) => unknown;
  readonly #boundary: OwnerBoundary;

  constructor(scope: ClsScope, options: ContextRunnerOptions = {}) {
    this.#scope = scope;
    this.#loadOwner = options.loadOwner ?? ((id) => id);
    this.#boundary = options.boundary ?? new OwnerBoundary();
  }

  /**
   * `fn` is given the owner as it was loaded: null where the run has none.
   *
   * @param dropped resolves when `fn` is waited for no longer though it has not ended
   */
  run<T>(
    context: ExecutionContext,
    fn: (owner: unknown) => T | Promise<T>,
    dropped?: () => Promise<unknown>,
  ): Promise<T> {
    return this.#scope.runFresh(() => {
      this.#write(context);
      const inside = async (): Promise<T> => {
        // The host's may have opened a CLS context of its own that inherits nothing.
        if (this.#boundary.guarded) this.#write(context);
        const owner = await this.#ownerOf(context);
        this.#scope.write('owner', owner);
        return fn(owner);
      };
      return this.#boundary.run(context.ownerId, inside, dropped);
    });
  }

  #write(context: ExecutionContext): void {
    this.#scope.write('ownerId', context.ownerId);
    this.#scope.write('actor', context.actor ?? null);
    this.#scope.write('startedBy', context.startedBy ?? null);
    if (context.run) this.#scope.write('run', context.run);
    this.#scope.write('trace', context.trace);
    if (context.stage) this.#scope.write('stage', context.stage);
  }

  async #ownerOf({ ownerId, owner }: ExecutionContext): Promise<unknown> {
    if (owner !== undefined) return owner;
    return ownerId === null ? null : ((await this.#loadOwner(ownerId)) ?? null);
  }
}
