import type { TransactionManager } from '../interfaces/index.js';

/** What is needed of the connection that a query runner of TypeORM's has. */
interface Connection {
  on?(event: 'error', told: (error: unknown) => void): unknown;
  off?(event: 'error', told: (error: unknown) => void): unknown;
  /** What is below pg's JavaScript client, with every message of the server; the native one has none. */
  readonly connection?: Wire;
}

type Told = (message: { readonly status?: string; readonly text?: string }) => void;

interface Wire {
  on?(event: 'readyForQuery' | 'commandComplete', told: Told): unknown;
  off?(event: 'readyForQuery' | 'commandComplete', told: Told): unknown;
}

interface Runner {
  connect?(): Promise<unknown>;
}

/** As the server says it after each statement: outside any transaction. */
const IDLE = 'I';
/** Nothing else has this tag, `COMMIT AND CHAIN` has; that of ROLLBACK is also that of a savepoint. */
const COMMITTED = 'COMMIT';

/**
 * Does work in a transaction of the host's, and sees whether it ended before its time, and why. A COMMIT or ROLLBACK in SQL passes by
 * TypeORM, which goes on as if the transaction were there; the server tells with each answer, so that it costs nothing to know.
 *
 * And it tells why its connection broke. One that breaks, or that the server ends, while no statement is under way is told of to nobody:
 * TypeORM releases the runner, and all that comes after says only that it is released, which sounds like a mistake of the body's and is
 * an outage.
 */
export class ConnectionWatch {
  #broken: { readonly error: unknown } | undefined;
  #ended = false;

  /** Whether the transaction was committed or rolled back by the work, another one begun since or not. */
  get ended(): boolean {
    return this.#ended;
  }

  async during<T>({ queryRunner }: TransactionManager, work: () => Promise<T>): Promise<T> {
    // The one that the transaction began on.
    const connection = (await (queryRunner as Runner | undefined)?.connect?.()) as Connection | undefined;
    const told = (error: unknown): void => void (this.#broken ??= { error });
    const heard: Told = ({ status, text }) => {
      if (status === IDLE || text === COMMITTED) this.#ended = true;
    };
    const wire = connection?.connection;
    connection?.on?.('error', told);
    wire?.on?.('readyForQuery', heard);
    wire?.on?.('commandComplete', heard);
    try {
      return await work();
    } finally {
      // It may go back to its pool.
      connection?.off?.('error', told);
      wire?.off?.('readyForQuery', heard);
      wire?.off?.('commandComplete', heard);
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
