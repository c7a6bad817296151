import type { TransactionManager } from '../interfaces/index.js';

/** What is needed of the connection that a query runner of TypeORM's has. */
interface Connection {
  on?(event: 'error', told: (error: unknown) => void): unknown;
  off?(event: 'error', told: (error: unknown) => void): unknown;
}

interface Runner {
  connect?(): Promise<unknown>;
}

/**
 * Does work in a transaction of the host's, and tells why its connection broke. One that breaks, or that the server ends, while no
 * statement is under way is told of to nobody: TypeORM releases the runner, and all that comes after says only that it is released,
 * which sounds like a mistake of the body's and is an outage.
 */
export class ConnectionWatch {
  #broken: { readonly error: unknown } | undefined;

  async during<T>({ queryRunner }: TransactionManager, work: () => Promise<T>): Promise<T> {
    // The one that the transaction began on.
    const connection = (await (queryRunner as Runner | undefined)?.connect?.()) as Connection | undefined;
    const told = (error: unknown): void => void (this.#broken ??= { error });
    connection?.on?.('error', told);
    try {
      return await work();
    } finally {
      // It may go back to its pool.
      connection?.off?.('error', told);
    }
  }

  /** What a transaction failed with, or what is behind it. */
  causeOf(error: unknown): unknown {
    return this.#broken && isReleased(error) ? this.#broken.error : error;
  }
}

/** By their names, as there may be several copies of TypeORM. A body that released the runner by itself meets them, too. */
const RELEASED: ReadonlySet<string> = new Set([
  'QueryRunnerAlreadyReleasedError',
  'QueryRunnerProviderAlreadyReleasedError',
]);

const isReleased = (error: unknown): boolean => error instanceof Error && RELEASED.has(error.name);
