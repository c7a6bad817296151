import type { Hint, Notifier } from '../../../../lib/engine/ports/index.js';

/** Hands hints to whoever listens, and keeps them. */
export class LocalNotifier implements Notifier {
  readonly published: Hint[] = [];
  readonly #listeners = new Set<(hint: Hint) => void>();

  publish(hint: Hint): void {
    this.published.push(hint);
    for (const listener of this.#listeners) listener(hint);
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
}
