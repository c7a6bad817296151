import { randomUUID } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { OpenedTransactions } from '../../../lib/composition/opened-transactions.js';
import type { HostTransactions, WorkflowStore } from '../../../lib/engine/ports/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { freshDatabase, LIMITS_SENDING, type FreshDatabase } from '../../support/database.js';
import { untilBlocked } from '../../support/until.js';
import { workflow, type TestWorkflow } from '../../unit/runtime/support/pipeline.js';
import { signal } from '../../unit/runtime/support/signals.js';
import { TestEngine } from '../../unit/runtime/support/test-engine.js';

type Context = Pick<StageContext, 'transaction' | 'step'>;
type WriteWithin = WorkflowStore['writeWithin'];

let database: FreshDatabase;
let host: DataSource;
const engines: TestEngine[] = [];
const calls: string[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  host = await database.openDataSource();
  await host.query(
    'CREATE TABLE bookings (run text NOT NULL, name text NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED)',
  );
});
afterAll(() => host.destroy());
beforeEach(() => {
  calls.length = 0;
  return host.query('TRUNCATE bookings');
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

const opened = (dataSource = host): HostTransactions =>
  new OpenedTransactions(
    { inTransaction: (work) => dataSource.transaction('READ COMMITTED', work), owns: () => false },
    () => [],
  );

async function engineOf(
  flow: TestWorkflow,
  given: { readonly transactions?: HostTransactions; readonly writeWithin?: (next: WriteWithin) => WriteWithin } = {},
): Promise<TestEngine> {
  const store = await createPostgresStore(host);
  if (given.writeWithin) store.writeWithin = given.writeWithin(store.writeWithin.bind(store));
  const engine = new TestEngine([flow], { store, transactions: given.transactions ?? opened() });
  engines.push(engine);
  return engine;
}

const flowOf = (execute: (ctx: Context) => unknown, more: object = {}): TestWorkflow =>
  workflow('booking', [{ key: 'book', execute: execute as never, ...more }]);

/** Writes a booking, and gives its name. */
const book =
  (name: string) =>
  async (manager: EntityManager): Promise<string> => {
    calls.push(name);
    await manager.query('INSERT INTO bookings (run, name) VALUES ($1, $2)', ['-', name]);
    return name;
  };

const bookings = async (): Promise<string[]> =>
  (await host.query('SELECT name FROM bookings ORDER BY name')).map(({ name }: { name: string }) => name);
const ledger = async (runId: string): Promise<object[]> =>
  host.query('SELECT key, kind, status, attempt, seq FROM workflow_steps WHERE run_id = $1 ORDER BY seq', [runId]);
const COMMITTED = { key: 'book#1', kind: 'transaction', status: 'completed', attempt: 1, seq: 1 };
const once = <T>(): ((does: () => T) => T | undefined) => {
  let done = false;
  return (does) => {
    if (done) return undefined;
    done = true;
    return does();
  };
};

describe('ctx.transaction', () => {
  it("TX-3: the ledger's row and the host's rows are committed together", async () => {
    const seen: unknown[] = [];
    const flow = flowOf(async (ctx) => {
      const name = await ctx.transaction('book', async (manager: EntityManager) => {
        const [{ at }] = await manager.query('SELECT pg_current_xact_id()::text AS at');
        await book('a')(manager);
        seen.push(at, await bookings());
        return 'a';
      });
      return `${name}!`;
    });
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toBe('a!');
    expect(await ledger(runId)).toEqual([COMMITTED]);
    const rows = await host.query(
      'SELECT xmin::text AS at FROM bookings UNION ALL SELECT xmin::text FROM workflow_steps WHERE run_id = $1',
      [runId],
    );
    expect(rows).toEqual([{ at: seen[0] }, { at: seen[0] }]);
    expect(seen[1]).toEqual([]);
  });

  it('TX-3: a replay answers from the ledger, and calls nothing', async () => {
    const fails = once<never>();
    const flow = flowOf(async (ctx) => {
      const name = await ctx.transaction('book', book('a'));
      const nothing = await ctx.transaction('nothing', async () => undefined);
      await ctx.step.sleep('nap', '1h');
      fails(() => {
        throw new Error('once');
      });
      return [name, nothing];
    });
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.travel(3_600_000);
    await engine.drain();
    expect(await engine.output(runId)).toEqual(['a', null]);
    expect(calls).toEqual(['a']);
    expect(await bookings()).toEqual(['a']);
  });

  it('TX-3: places of what came from outside go along, those of a transaction that was rolled back too', async () => {
    const fails = once<never>();
    const flow = flowOf(async (ctx) => {
      await ctx.step.sleep('nap', '1h');
      const late = ctx.step.sleep('late', '2h');
      const first = await ctx.transaction(
        'book',
        async (manager: EntityManager) => {
          await book('a')(manager);
          fails(() => {
            throw new Error('once');
          });
          return 'a';
        },
        { retry: { maxAttempts: 2, backoff: 0, jitter: 0 } },
      );
      await late;
      return first;
    });
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.travel(3_600_000);
    await engine.travel(7_200_000);
    expect(await engine.output(runId)).toBe('a');
    expect(await ledger(runId)).toEqual([
      expect.objectContaining({ key: 'nap#1', seq: 1 }),
      expect.objectContaining({ key: 'book#1', attempt: 2, status: 'completed' }),
      expect.objectContaining({ key: 'late#1' }),
    ]);
    expect(await bookings()).toEqual(['a']);
  });

  it('TX-3: what throws is rolled back, then recorded, and opened again by the retry of the stage', async () => {
    const flow = flowOf(
      async (ctx) => {
        const name = await ctx.transaction(
          'book',
          async (manager: EntityManager) => {
            await book('a')(manager);
            if (calls.length < 3) throw new TypeError(`no ${calls.length}`);
            return 'a';
          },
          { retry: { maxAttempts: 2, backoff: 0, jitter: 0 } },
        );
        return name;
      },
      { retry: { maxAttempts: 2, backoff: 0, jitter: 0 } },
    );
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    const { attempts } = await engine.history(runId);
    expect(attempts.map(({ message }) => message)).toEqual(['no 2']);
    expect(await engine.output(runId)).toBe('a');
    expect(calls).toHaveLength(3);
    expect(await bookings()).toEqual(['a']);
    expect(await ledger(runId)).toEqual([{ ...COMMITTED, seq: 2 }]);
  });

  it('TX-3: a next try that is far off waits in the store', async () => {
    const flow = flowOf((ctx) =>
      ctx.transaction(
        'book',
        async (manager: EntityManager) => {
          await book('a')(manager);
          if (calls.length < 2) throw new Error('not yet');
          return calls.length;
        },
        { retry: { maxAttempts: 2, backoff: '1h', jitter: 0 } },
      ),
    );
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.statuses(runId)).toMatchObject({ book: 'SUSPENDED' });
    expect(await bookings()).toEqual([]);
    await engine.travel(3_600_000);
    expect(await engine.output(runId)).toBe(2);
    expect(await ledger(runId)).toEqual([{ ...COMMITTED, attempt: 2 }]);
  });

  it('TX-3: the body may catch what its transaction threw', async () => {
    const flow = flowOf(async (ctx) => {
      const first = await ctx
        .transaction('book', async (manager: EntityManager) => {
          await book('a')(manager);
          throw new TypeError('full');
        })
        .catch((error: Error) => `${error.name}: ${error.message}`);
      return [first, await ctx.transaction('again', book('a'))];
    });
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toEqual(['TypeError: full', 'a']);
    expect(await bookings()).toEqual(['a']);
  });

  it('STEP-5, TX-3: one that nobody awaits is committed before its stage is', async () => {
    const flow = flowOf(async (ctx) => {
      void ctx.transaction('book', async (manager: EntityManager) => {
        await manager.query('SELECT pg_sleep(0.1)');
        return book('a')(manager);
      });
      ctx.transaction('more', book('b')).catch(() => undefined);
      return 'done';
    });
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toBe('done');
    expect(await bookings()).toEqual(['a', 'b']);
    expect((await ledger(runId)).map((row) => (row as { status: string }).status)).toEqual(['completed', 'completed']);
  });

  it('STEP-5, STEP-7, TX-3: what one that nobody awaits fails with fails the attempt, and the next does it anew', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const fails = once<never>();
    const flow = flowOf(
      async (ctx) => {
        void ctx.transaction('book', async (manager: EntityManager) => {
          await book('a')(manager);
          fails(() => {
            throw new TypeError('full');
          });
        });
        await ctx.step.run('other', () => calls.push('other'));
        return 'done';
      },
      { retry: { maxAttempts: 2, backoff: 0 } },
    );
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(await engine.output(runId)).toBe('done');
    expect((await engine.history(runId)).attempts.map(({ message }) => message)).toEqual(['full']);
    expect(calls.toSorted()).toEqual(['a', 'a', 'other']);
    expect(await bookings()).toEqual(['a']);
    expect(engine.log.matching('warn', 'UNAWAITED_STEP: step "book" failed')).toHaveLength(1);
  });

  it('TX-3: a run that is cancelled between body and commit commits nothing', async () => {
    let runId = '';
    const flow = flowOf((ctx) => ctx.transaction('book', book('a')));
    const engine = await engineOf(flow, {
      writeWithin:
        (next) =>
        async (...given) => {
          await engine.cancel(runId);
          return next(...given);
        },
    });
    runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'CANCELLED', book: 'CANCELLED' });
    expect(calls).toEqual(['a']);
    expect(await bookings()).toEqual([]);
    expect(await ledger(runId)).toEqual([]);
  });

  it.each(['workflow_runs', 'workflow_stage_runs'])(
    'TX-3: whoever has %s when it is to commit is waited for, and believed',
    async (table) => {
      let runId = '';
      const flow = flowOf((ctx) => ctx.transaction('book', book('a')));
      const engine = await engineOf(flow, {
        writeWithin: (next) => async (write, transaction) => {
          const other = host.createQueryRunner();
          await other.startTransaction();
          const id = table === 'workflow_runs' ? runId : write.lease.stageRunId;
          await other.query(`SELECT 1 FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id]);
          const verdict = next(write, transaction);
          await untilBlocked(host);
          await other.query('UPDATE workflow_stage_runs SET claim_token = $1 WHERE id = $2', [
            randomUUID(),
            write.lease.stageRunId,
          ]);
          await other.commitTransaction();
          await other.release();
          expect(await verdict).toBe('not-fenced');
          return verdict;
        },
      });
      runId = await engine.start(flow);
      await engine.drain();
      expect(await bookings()).toEqual([]);
      expect(await ledger(runId)).toEqual([]);
    },
  );

  it('TX-3: of two bodies at once, after a lost lease, one commits', async () => {
    const inside = signal();
    const goOn = signal();
    const flow = flowOf((ctx) =>
      ctx.transaction('book', async (manager: EntityManager) => {
        const number = calls.length + 1;
        await book(`by ${number}`)(manager);
        if (number === 1) {
          inside.fire();
          await goOn;
        }
        return number;
      }),
    );
    const slow = await engineOf(flow);
    const runId = await slow.start(flow);
    const drained = slow.drain();
    await inside;
    const other = await engineOf(flow);
    await other.travel(600_000);
    expect(await other.output(runId)).toBe(2);
    goOn.fire();
    await drained;
    expect(calls).toEqual(['by 1', 'by 2']);
    expect(await bookings()).toEqual(['by 2']);
    expect(await ledger(runId)).toEqual([COMMITTED]);
  });

  it('LEASE-5, TX-3: a lost answer of the commit is read off the ledger', async () => {
    const host1 = opened();
    const loses = once<never>();
    const flow = flowOf((ctx) => ctx.transaction('book', book('a')));
    const run: HostTransactions['run'] = async (owner, work) => {
      const answer = await host1.run(owner, work);
      loses(() => {
        throw new Error('Connection terminated unexpectedly');
      });
      return answer;
    };
    const engine = await engineOf(flow, { transactions: { run } });
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toBe('a');
    expect(calls).toEqual(['a']);
    expect(await ledger(runId)).toEqual([COMMITTED]);
  });

  it('TX-3: a commit that failed for now is done again, whole', async () => {
    const host1 = opened();
    const flow = flowOf((ctx) => ctx.transaction('book', book('a')));
    let failures = 0;
    const failure = (code: string): Error => Object.assign(new Error(code), { code });
    const run: HostTransactions['run'] = async (owner, work) => {
      // Once before it begins, once instead of the commit.
      if (failures++ === 0) throw failure('57P03');
      return host1.run(owner, async (...given) => {
        const answer = await work(...given);
        if (failures++ < 3) throw failure('40001');
        return answer;
      });
    };
    const deadlocks = once<never>();
    const engine = await engineOf(flow, {
      transactions: { run },
      writeWithin:
        (next) =>
        async (...given) => {
          deadlocks(() => {
            throw failure('40P01');
          });
          return next(...given);
        },
    });
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toBe('a');
    expect(await bookings()).toEqual(['a']);
    expect(calls.length).toBeGreaterThan(1);
    expect(await ledger(runId)).toEqual([expect.objectContaining({ status: 'completed', attempt: 1 })]);
  });

  it('TX-3: what only the commit finds out is a failure of the step', async () => {
    const flow = flowOf(
      (ctx) =>
        ctx.transaction('book', async (manager: EntityManager) => {
          await book('a')(manager);
          await book('a')(manager);
        }),
      { retry: { maxAttempts: 1 } },
    );
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    expect((await engine.history(runId)).run).toMatchObject({
      status: 'FAILED',
      failureMessage: expect.stringContaining('bookings_name_key'),
    });
    expect(await bookings()).toEqual([]);
    expect(await ledger(runId)).toEqual([expect.objectContaining({ status: 'failed' })]);
  });

  it.each<[string, (manager: EntityManager) => Promise<unknown>, object]>([
    [
      'swallows a failed statement',
      (manager) => manager.query('SELECT nothing').catch(() => 'swallowed'),
      { code: 'EXCEPTION' },
    ],
    ['commits by itself', (manager) => manager.queryRunner!.commitTransaction(), { code: 'INVALID_STEP' }],
    ['rolls back by itself', (manager) => manager.queryRunner!.rollbackTransaction(), { code: 'INVALID_STEP' }],
    ['leaves a part open', (manager) => manager.queryRunner!.startTransaction(), { code: 'INVALID_STEP' }],
    ['commits in SQL', (manager) => manager.query('COMMIT'), { code: 'INVALID_STEP' }],
    ['commits in SQL and awaits it not', async (manager) => void manager.query('COMMIT'), { code: 'INVALID_STEP' }],
    ['commits in SQL and chains', (manager) => manager.query('COMMIT AND CHAIN'), { code: 'INVALID_STEP' }],
    ['rolls back in SQL', (manager) => manager.query('ROLLBACK'), { code: 'INVALID_STEP' }],
    [
      'rolls back in SQL and begins another',
      async (manager) => {
        await manager.query('ROLLBACK');
        await manager.query('BEGIN');
      },
      { code: 'INVALID_STEP' },
    ],
    ['yields what JSON can not hold', async () => 1n, { code: 'INVALID_OUTPUT' }],
  ])('TX-3: a body that %s fails, and no outcome is recorded for it', async (_, does, error) => {
    const flow = flowOf((ctx) => ctx.transaction('book', does), { retry: { maxAttempts: 1 } });
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    const { run } = await engine.history(runId);
    expect({ status: run.status, code: run.failureCode }).toEqual({ status: 'FAILED', ...error });
    expect(await ledger(runId)).toEqual([expect.objectContaining({ status: 'failed' })]);
  });

  it.each([
    ['has made read only', 'SET TRANSACTION READ ONLY'],
    ['has given no time to wait for a lock', `SET LOCAL statement_timeout = '50ms'`],
  ])('TX-3: a transaction that its body %s is not done again for ever', async (_, sql) => {
    let runId = '';
    const spoil = async (manager: EntityManager): Promise<void> => {
      calls.push('book');
      await manager.query(sql);
    };
    const flow = flowOf((ctx) => ctx.transaction('book', spoil), { retry: { maxAttempts: 1 } });
    const engine = await engineOf(flow, {
      writeWithin:
        (next) =>
        async (...given) =>
          host.transaction(async (other) => {
            await other.query('SELECT 1 FROM workflow_runs WHERE id = $1 FOR NO KEY UPDATE', [runId]);
            return next(...given);
          }),
    });
    runId = await engine.start(flow);
    await engine.drain();
    const { run } = await engine.history(runId);
    expect({ status: run.status, code: run.failureCode }).toEqual({ status: 'FAILED', code: 'EXCEPTION' });
    expect(calls).toHaveLength(10);
    expect(await ledger(runId)).toEqual([expect.objectContaining({ status: 'failed' })]);
  });

  it('TX-3: a body may roll back a part of its transaction, in SQL too, and the rest is committed', async () => {
    const flow = flowOf((ctx) =>
      ctx.transaction('book', async (manager: EntityManager) => {
        await book('a')(manager);
        await manager.query('SAVEPOINT part');
        await book('b')(manager);
        await manager.query('ROLLBACK TO SAVEPOINT part');
        const nested = manager.transaction(async (inner) => {
          await book('c')(inner);
          throw new Error('not this');
        });
        await nested.catch(() => undefined);
      }),
    );
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    expect((await engine.history(runId)).run).toMatchObject({ status: 'COMPLETED' });
    expect(await bookings()).toEqual(['a']);
  });

  it('TX-3: a body that ends its own run is told so', async () => {
    let runId = '';
    const flow = flowOf(
      (ctx) =>
        ctx.transaction('book', (manager: EntityManager) =>
          manager.query(`UPDATE workflow_runs SET status = 'CANCELLED' WHERE id = $1`, [runId]),
        ),
      { retry: { maxAttempts: 1 } },
    );
    const engine = await engineOf(flow);
    runId = await engine.start(flow);
    await engine.drain();
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'INVALID_STEP' });
  });

  it('TX-3: a statement that fails behind the last one makes the commit uncertain', async () => {
    const spoilt = opened().run(null, async (manager, transaction) => {
      await transaction.query(`INSERT INTO bookings VALUES ('-', 'a')`);
      void (manager as EntityManager).query('SELECT nothing').catch(() => undefined);
    });
    await expect(spoilt).rejects.toThrow('nothing');
    expect(await bookings()).toEqual([]);
  });

  it('LEASE-3, TX-3: who stands still while it holds the run loses the transaction; a limit of the host stays', async () => {
    const LIMITS = `SELECT current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('tcp_user_timeout') AS send`;
    const limits: unknown[] = [];
    let inside: EntityManager;
    const flow = flowOf(async (ctx) => {
      await ctx.transaction('a', async (manager: EntityManager) => void (inside = manager));
      await ctx.transaction('b', async (manager: EntityManager) => {
        inside = manager;
        await manager.query(`SET LOCAL idle_in_transaction_session_timeout = '5s'`);
        await manager.query('SET LOCAL tcp_user_timeout = 6000');
      });
    });
    const engine = await engineOf(flow, {
      writeWithin: (next) => async (write, transaction) => {
        const verdict = await next(write, transaction);
        limits.push(...(await inside.query(LIMITS)));
        return verdict;
      },
    });
    await engine.start(flow);
    await engine.drain();
    expect(limits).toEqual([
      { idle: '30s', send: LIMITS_SENDING ? '30000' : '0' },
      { idle: '5s', send: LIMITS_SENDING ? '6000' : '0' },
    ]);
    expect(await host.query(LIMITS)).toEqual([{ idle: '0', send: '0' }]);
  });

  it.each([
    ['before its row', 'before'],
    ['before its commit', 'after'],
  ])('LEASE-3, TX-3: a transaction that the server ends %s is done again, whole', async (_, when) => {
    const first = once<Promise<void>>();
    let inside: EntityManager;
    const ends = async (): Promise<void> => {
      const client = (await inside.queryRunner!.connect()) as { once(event: 'end', told: () => void): void };
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      await inside.query('SET LOCAL idle_in_transaction_session_timeout = 1');
      await ended;
    };
    const flow = flowOf(
      (ctx) =>
        ctx.transaction('book', async (manager: EntityManager) => {
          inside = manager;
          return book('a')(manager);
        }),
      { retry: { maxAttempts: 1 } },
    );
    const engine = await engineOf(flow, {
      writeWithin: (next) => async (write, transaction) => {
        if (when === 'before') await first(ends);
        const verdict = await next(write, transaction);
        if (when === 'after') await first(ends);
        return verdict;
      },
    });
    const runId = await engine.start(flow);
    await engine.drain();
    const { run, attempts } = await engine.history(runId);
    expect({ ...run, attempts }).toMatchObject({ status: 'COMPLETED', attempts: [] });
    expect(calls).toEqual(['a', 'a']);
    expect(await bookings()).toEqual(['a']);
    expect(await ledger(runId)).toMatchObject([{ key: 'book#1', status: 'completed' }]);
  });

  it('STEP-11, TX-3: a transaction is no other kind of step, and none is called in it', async () => {
    let before = true;
    const flow = flowOf(
      async (ctx) => {
        if (!before) return ctx.step.run('book', () => 'a');
        before = false;
        const nested = await ctx.transaction('book', () =>
          ctx.step.run('inner', () => 1).catch((error: { code: string }) => error.code),
        );
        throw new Error(String(nested));
      },
      { retry: { maxAttempts: 2, backoff: 0 } },
    );
    const engine = await engineOf(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    const { run, attempts } = await engine.history(runId);
    expect(attempts[0]!.message).toBe('STEP_NESTED');
    expect(run).toMatchObject({ failureCode: 'STEP_MISMATCH' });
  });
});

describe('FAULT K28', () => {
  it("FAULT K28, TX-3: READ COMMITTED, whatever the database's default is", async () => {
    const strict = await freshDatabase();
    const pool = strict.openPool({ max: 1 });
    await pool.query(`ALTER DATABASE "${strict.name}" SET default_transaction_isolation = 'serializable'`);
    await pool.end();
    const dataSource = await strict.openDataSource();
    const store = await createPostgresStore(dataSource);
    const isolation = async (manager: EntityManager): Promise<string> =>
      (await manager.query('SHOW transaction_isolation'))[0].transaction_isolation;
    const flow = flowOf((ctx) => ctx.transaction('book', isolation));
    const engine = new TestEngine([flow], { store, transactions: opened(dataSource) });
    engines.push(engine);
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await dataSource.query('SHOW transaction_isolation')).toEqual([{ transaction_isolation: 'serializable' }]);
    expect(await engine.output(runId)).toBe('read committed');
    await dataSource.destroy();
  });
});
