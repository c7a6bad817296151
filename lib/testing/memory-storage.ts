import type { EngineStorage, OpenStorage } from '../composition/engine-storage.js';
import type { Hint, Notifier } from '../engine/ports/index.js';
import { InvalidOptionsError } from '../errors/index.js';
import { MemoryStore } from './memory/index.js';

/** Hints within one process: heard at once. */
class LocalNotifier implements Notifier {
  readonly #listeners = new Set<(hint: Hint) => void>();

  publish(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint);
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}
}

/**
 * Opens an in-memory store.
 *
 * @throws InvalidOptionsError in production: everything would be gone with the process (OPS-3)
 */
export const openMemoryStorage: OpenStorage = async (): Promise<EngineStorage> => {
  if (process.env.NODE_ENV === 'production') {
    const message = 'is for tests: its runs would be gone with the process. Use PostgreSQL in production';
    throw new InvalidOptionsError({ where: 'WorkflowTester', problems: [{ path: 'store', message }] });
  }
  const notifier = new LocalNotifier();
  return {
    store: new MemoryStore(),
    notifier,
    prepare: async () => {},
    announceWithin: async () => {},
    inTransaction: async () => {
      const message =
        "has no transactions: test stages that call ctx.transaction or ctx.recordWith on PostgreSQL, store: 'postgres'";
      throw new InvalidOptionsError({ where: 'The in-memory store', problems: [{ path: 'store', message }] });
    },
    owns: () => false,
  };
};
