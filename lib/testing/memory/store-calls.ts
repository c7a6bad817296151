import { v7 } from 'uuid';
import type { NextId } from '../../engine/ports/ids.js';
import type { JoinedTransaction } from '../../engine/ports/joined-transaction.js';
import { InvalidOptionsError } from '../../errors/index.js';
import { MemoryClock, type StoreClock } from './memory-clock.js';
import { MemoryDatabase } from './memory-database.js';
import type { MemorySession } from './session.js';

export interface MemoryStoreOptions {
  /** @default the computer's clock, which `MemoryClock.advance` moves on */
  readonly clock?: StoreClock;
  /** Tables to share with another store, which then stands for another process. @default tables of its own */
  readonly database?: MemoryDatabase;
  /** Claim tokens and ids of rows that the store makes; counted ones make a simulation repeatable. @default UUIDv7 */
  readonly nextId?: NextId;
}

/** What every call of the store is made of: a transaction on the tables, at one instant. */
export class StoreCalls {
  clockOffsetMs = 0;
  readonly #clock: StoreClock;
  readonly #db: MemoryDatabase;
  readonly #nextId: NextId;

  constructor({ clock = new MemoryClock(), database = new MemoryDatabase(), nextId = v7 }: MemoryStoreOptions = {}) {
    this.#clock = clock;
    this.#db = database;
    this.#nextId = nextId;
  }

  /** Runs `work` whole or not at all. */
  protected call<T>(work: (session: MemorySession) => T): T {
    const session = { db: this.#db, now: this.#clock.now() + this.clockOffsetMs, nextId: this.#nextId };
    return this.#db.journal.transaction(() => work(session));
  }
}

export function refuseJoining(method: string, transaction: JoinedTransaction | undefined): void {
  if (transaction === undefined) return;
  const message = 'the in-memory store can take no part in a transaction; leave it out, or test on PostgreSQL';
  throw new InvalidOptionsError({ where: method, problems: [{ path: 'transaction', message }] });
}
