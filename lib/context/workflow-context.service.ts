import { Injectable } from '@nestjs/common';
import { ClsScope } from './cls-scope.service.js';
import type { CurrentRun, CurrentStage } from './context-values.js';

/**
 * Says for whom and for which run the code that asks is running: in a stage body, a cancel hook, an event handler, and in
 * every service they call. Outside of those each answer is undefined.
 *
 * @publicApi
 */
@Injectable()
export class WorkflowContext {
  constructor(private readonly scope: ClsScope) {}

  currentRun(): CurrentRun | undefined {
    return this.scope.read('run') as CurrentRun | undefined;
  }

  /** Undefined in event handlers of `run:*` events. */
  currentStage(): CurrentStage | undefined {
    return this.scope.read('stage') as CurrentStage | undefined;
  }

  /** The stored id; null = the run belongs to nobody. */
  currentOwnerId(): string | null | undefined {
    return this.scope.read('ownerId') as string | null | undefined;
  }

  /** What `owners.load` made of the id, the id itself without it, or null. */
  currentOwner<T = unknown>(): T | null | undefined {
    return this.scope.read('owner') as T | null | undefined;
  }

  /** On whose behalf the run acts; null = nobody. */
  currentActor<T = unknown>(): T | null | undefined {
    return this.scope.read('actor') as T | null | undefined;
  }

  /**
   * Names the actor of the runs that are started in this request: call it in a guard or a middleware. JSON only.
   *
   * @throws Error when no CLS context is open: mount nestjs-cls' middleware, or wrap the call in `cls.run`.
   */
  setActor(actor: unknown): void {
    this.scope.write('actor', actor);
  }
}
