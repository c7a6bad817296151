import type { EnginePool, Statement, TransactionQuery } from '../../../lib/persistence/engine-pool.js';

/** A side waits before each statement until the scheduler lets it go on. */
export class Side {
  private arrived: () => void = () => undefined;
  private release: (() => void) | undefined;
  private arrival: Promise<void> = new Promise((resolve) => (this.arrived = resolve));
  done = false;
  error: unknown;
  private free = false;

  constructor(
    readonly name: string,
    private readonly pool: EnginePool,
    /** Of its one connection. */
    readonly pid: number,
  ) {}

  /** The pool as the store sees it. */
  get stepped(): EnginePool {
    const pool = this.pool;
    const gate = () => this.gate();
    return {
      sendMs: pool.sendMs,
      async query<Row>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
        await gate();
        return pool.query<Row>(statement, values);
      },
      async transaction<T>(work: (query: TransactionQuery) => Promise<T>): Promise<T> {
        return pool.transaction(async (query) => {
          const answer = await work(async (statement, values) => {
            await gate();
            return query(statement, values);
          });
          // Its commit is a step too.
          await gate();
          return answer;
        });
      },
    } as unknown as EnginePool;
  }

  start(work: () => Promise<unknown>): void {
    void work().then(
      () => this.finish(),
      (error: unknown) => {
        this.error = error;
        this.finish();
      },
    );
  }

  /** Whether it stands at a gate, or has ended. */
  get waiting(): boolean {
    return this.done || this.release !== undefined;
  }

  get settled(): Promise<void> {
    return this.arrival;
  }

  step(): void {
    const release = this.release!;
    this.release = undefined;
    this.arrival = new Promise((resolve) => (this.arrived = resolve));
    release();
  }

  /** Lets it run to its end: after a failure nothing may be left inside a transaction. */
  async runFree(): Promise<void> {
    this.free = true;
    while (!this.done) {
      const { arrival } = this;
      if (this.release) this.step();
      else await arrival;
    }
  }

  private gate(): Promise<void> {
    if (this.free) return Promise.resolve();
    return new Promise((resolve) => {
      this.release = resolve;
      this.arrived();
    });
  }

  private finish(): void {
    this.done = true;
    this.arrived();
  }
}
