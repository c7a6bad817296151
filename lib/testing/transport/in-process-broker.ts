import type { JobMessage } from '../../engine/ports/index.js';

/**
 * Messages on their way between transports of one process, oldest first. A message is here until somebody takes it; one with
 * the id of another that still lies here is the same.
 *
 * @publicApi
 */
export class InProcessBroker {
  readonly #messages = new Map<string, JobMessage>();
  readonly #listeners = new Set<() => void>();

  /** How many nobody has taken yet. */
  get size(): number {
    return this.#messages.size;
  }

  put(messages: readonly JobMessage[]): void {
    for (const message of messages) if (!this.#messages.has(message.id)) this.#messages.set(message.id, { ...message });
    for (const listener of [...this.#listeners]) listener();
  }

  /** Removes the oldest message of these queues (null = of all), and hands it over. */
  take(queues: readonly string[] | null): JobMessage | undefined {
    for (const message of this.#messages.values()) {
      if (queues !== null && !queues.includes(message.queue)) continue;
      this.#messages.delete(message.id);
      return message;
    }
    return undefined;
  }

  /** Removes what would begin a stage of this run. */
  removeRun(runId: string): void {
    for (const { id, kind, runId: of } of this.#messages.values()) {
      if (of === runId && kind === 'execute') this.#messages.delete(id);
    }
  }

  /** Calls `listener` when messages were put in, until the returned function is called. */
  onPut(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
