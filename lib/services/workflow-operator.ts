import type { OwnerScope } from '../engine/ports/index.js';
import type { DeadLetter, DeadLetters } from './events/dead-letters.js';
import { RunAccess, type RunAccessParts } from './runs/run-access.js';

/**
 * What an operator may do: everything `WorkflowService` does with existing runs, over all owners, and the dead letters of
 * the outbox. Guard whatever hands it out.
 *
 * @publicApi
 */
export class WorkflowOperator extends RunAccess {
  readonly #deadLetters: DeadLetters;

  constructor(parts: RunAccessParts, deadLetters: DeadLetters) {
    super(parts);
    this.#deadLetters = deadLetters;
  }

  protected override scopeOf(): Promise<OwnerScope> {
    return Promise.resolve({ all: true });
  }

  /** Events that no try could deliver, oldest first. From 1 to 1,000. */
  deadLetters(limit = 100): Promise<DeadLetter[]> {
    return this.#deadLetters.list(limit);
  }

  /** Delivers dead letters again, with all their tries. Resolves with how many there were. */
  replayDeadLetters(ids: readonly string[]): Promise<number> {
    return this.#deadLetters.replay(ids);
  }
}
