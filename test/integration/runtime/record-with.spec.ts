import { randomUUID } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { OpenedTransactions } from '../../../lib/composition/opened-transactions.js';
import type { HostTransactions, WorkflowStore } from '../../../lib/engine/ports/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { timeLimitsByHand } from '../../support/time-limits.js';
import { untilBlocked } from '../../support/until.js';
import { workflow, type TestNode, type TestWorkflow } from '../../unit/runtime/support/pipeline.js';
import { signal } from '../../unit/runtime/support/signals.js';
import { TestEngine } from '../../unit/runtime/support/test-engine.js';

type Context = Pick<StageContext, 'recordWith' | 'step' | 'annotate' | 'skip' | 'abortSignal'>;
type RecordWithin = WorkflowStore['recordWithin'];

let database: FreshDatabase;
let host: DataSource;
const engines: TestEngine[] = [];
const calls: string[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  host = await database.openDataSource();
  await host.query('CREATE TABLE bookings (name text NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED)');
});
afterAll(() => host.destroy());
beforeEach(() => {
  calls.length = 0;
  return host.query('TRUNCATE bookings');
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

const opened = (): HostTransactions =>
  new OpenedTransactions(
    { inTransaction: (work) => host.transaction('READ COMMITTED', work), owns: () => false },
    () => [],
  );

async function engineOf(
  flow: TestWorkflow,
  given: {
    readonly transactions?: HostTransactions;
    readonly recordWithin?: (next: RecordWithin) => RecordWithin;
  } = {},
): Promise<TestEngine> {
  const store = await createPostgresStore(host);
  if (given.recordWithin) store.recordWithin = given.recordWithin(store.recordWithin.bind(store));
  const engine = new TestEngine([flow], { store, transactions: given.transactions ?? opened() });
  engines.push(engine);
  return engine;
}

const stageOf = (execute: (ctx: Context) => unknown, more: object = {}) => ({
  key: 'book',
  execute: execute as never,
  ...more,
});
const flowOf = (execute: (ctx: Context) => unknown, more: object = {}): TestWorkflow =>
  workflow('booking', [stageOf(execute, more)]);

/** Writes a booking. */
const book =
  (name: string) =>
  async (manager: EntityManager): Promise<void> => {
    calls.push(name);
    await manager.query('INSERT INTO bookings (name) VALUES ($1)', [name]);
  };

const bookings = async (): Promise<string[]> =>
  (await host.query('SELECT name FROM bookings ORDER BY name')).map(({ name }: { name: string }) => name);
const ONE_TRY = { retry: { maxAttempts: 1 } };
const once = (): ((does: () => void) => void) => {
  let done = false;
  return (does) => {
    if (done) return;
    done = true;
    does();
  };
};
const failure = (code: string): Error => Object.assign(new Error(code), { code });

/** Runs a flow to its end. */
async function runOf(engine: TestEngine, flow: TestWorkflow): Promise<string> {
  const runId = await engine.start(flow);
  await engine.drain();
  return runId;
}

describe('ctx.recordWith', () => {
  it("TX-3: the host's rows and the stage's outcome, with all that follows, are one commit", async () => {
    const flow = workflow('booking', [
      stageOf((ctx) => {
        ctx.recordWith(book('a'));
        ctx.recordWith(book('b'));
        ctx.annotate('said', 1);
        return calls.length;
      }),
      { key: 'next', execute: async () => bookings() },
    ]);
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect(await engine.output(runId)).toEqual(['a', 'b']);
    const { stageRuns, annotations } = await engine.history(runId);
    expect(stageRuns.map(({ output }) => output)).toEqual(['0', '["a","b"]']);
    expect(annotations).toMatchObject([{ key: 'said', value: '1' }]);
    const made = await host.query(
      `SELECT DISTINCT xmin::text AS at FROM bookings UNION SELECT xmin::text FROM workflow_stage_runs WHERE run_id = $1 AND key = 'book'`,
      [runId],
    );
    expect(made).toHaveLength(1);
    expect(calls).toEqual(['a', 'b']);
  });

  it('TX-3: of several all run, in order, one after the other', async () => {
    const flow = flowOf((ctx) => {
      ctx.recordWith(async (manager: EntityManager) => {
        await manager.query('SELECT pg_sleep(0.01)');
        calls.push('slow');
      });
      ctx.recordWith(() => void calls.push('quick'));
    });
    const engine = await engineOf(flow);
    await runOf(engine, flow);
    expect(calls).toEqual(['slow', 'quick']);
  });

  it('TX-3, GRP-2: the last branches of a group record with it, and the run goes on once', async () => {
    const branch = (key: string): TestNode => ({
      key,
      execute: (async (ctx: Context) => {
        ctx.recordWith(book(key));
        return key;
      }) as never,
    });
    const flow = workflow('booking', [
      [branch('a'), branch('b'), branch('c')] as never,
      { key: 'next', execute: async () => bookings() },
    ]);
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect(await engine.output(runId)).toEqual(['a', 'b', 'c']);
    expect((await engine.history(runId)).stageRuns.filter(({ key }) => key === 'next')).toHaveLength(1);
  });

  it('TX-3: a body that is replayed gives them anew; what was given before a wait does not count', async () => {
    const flow = flowOf(async (ctx) => {
      ctx.recordWith(book('a'));
      await ctx.step.sleep('nap', '1h');
      expect(await bookings()).toEqual([]);
      ctx.recordWith(book('b'));
      return 1;
    });
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    await engine.travel(3_600_000);
    expect(await engine.output(runId)).toBe(1);
    expect(calls).toEqual(['a', 'b']);
  });

  it('TX-3, STEP-5: a wait that nobody awaits any more does not put the stage to sleep while it is recorded', async () => {
    const flow = flowOf(async (ctx) => {
      ctx.recordWith(async (manager: EntityManager) => {
        await manager.query('SELECT pg_sleep(0.1)');
        await book('a')(manager);
      });
      await Promise.race([ctx.step.sleep('long', '1h'), ctx.step.run('quick', () => 1)]);
      return 'done';
    });
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect(await engine.output(runId)).toBe('done');
    expect(calls).toEqual(['a']);
    expect((await engine.history(runId)).steps.find(({ key }) => key === 'long#1')?.status ?? 'cancelled').toBe(
      'cancelled',
    );
  });

  it.each<[string, (ctx: Context) => unknown, string]>([
    ['a failure', () => Promise.reject(new Error('no')), 'FAILED'],
    ['a skip', (ctx) => ctx.skip('no'), 'COMPLETED'],
    ['an output that JSON can not hold', () => 1n, 'FAILED'],
  ])('TX-3: %s calls none', async (_what, ends, status) => {
    const flow = flowOf((ctx) => {
      ctx.recordWith(book('a'));
      return ends(ctx);
    }, ONE_TRY);
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect((await engine.history(runId)).run.status).toBe(status);
    expect([calls, await bookings()]).toEqual([[], []]);
  });

  it('TX-3: what throws is rolled back and fails the attempt, which is retried as any other', async () => {
    const flow = flowOf(
      (ctx) => {
        ctx.recordWith(book('a'));
        ctx.recordWith(() => {
          if (calls.length < 3) throw new TypeError(`no ${calls.length}`);
        });
        return calls.length;
      },
      { retry: { maxAttempts: 3, backoff: 0, jitter: 0 } },
    );
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect((await engine.history(runId)).attempts.map(({ message }) => message)).toEqual(['no 1', 'no 2']);
    expect(await engine.output(runId)).toBe(2);
    expect(await bookings()).toEqual(['a']);
  });

  it('TX-3: a transaction that a body has made read only is not done again for ever', async () => {
    const flow = flowOf((ctx) => {
      ctx.recordWith(async (manager: EntityManager) => {
        calls.push('read');
        await manager.query('SET TRANSACTION READ ONLY');
      });
    }, ONE_TRY);
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect((await engine.history(runId)).run).toMatchObject({
      status: 'FAILED',
      failureMessage: expect.stringContaining('read-only'),
    });
    expect(calls).toHaveLength(10);
  });

  it('TX-3: a run that is cancelled before the outcome is written commits nothing', async () => {
    let runId = '';
    const flow = flowOf((ctx) => ctx.recordWith(book('a')));
    const engine = await engineOf(flow, {
      recordWithin:
        (next) =>
        async (...given) => {
          await engine.cancel(runId);
          return next(...given);
        },
    });
    runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'CANCELLED', book: 'CANCELLED' });
    expect([calls, await bookings()]).toEqual([['a'], []]);
  });

  it.each(['workflow_runs', 'workflow_stage_runs'])(
    'TX-3, LEASE-5: whoever has %s when it is to commit is waited for, and believed',
    async (table) => {
      const flow = flowOf((ctx) => ctx.recordWith(book('a')));
      const engine = await engineOf(flow, {
        recordWithin: (next) => async (record, decide, transaction) => {
          const { runId, stageRunId } = record.lease;
          const other = host.createQueryRunner();
          await other.startTransaction();
          const id = table === 'workflow_runs' ? runId : stageRunId;
          await other.query(`SELECT 1 FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id]);
          const verdict = next(record, decide, transaction);
          await untilBlocked(host);
          const token = [randomUUID(), stageRunId];
          await other.query('UPDATE workflow_stage_runs SET claim_token = $1 WHERE id = $2', token);
          await other.commitTransaction();
          await other.release();
          expect(await verdict).toEqual({ verdict: 'not-fenced' });
          return verdict;
        },
      });
      const runId = await runOf(engine, flow);
      expect(await bookings()).toEqual([]);
      expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', book: 'RUNNING' });
    },
  );

  it('TX-3: of two bodies at once, after a lost lease, one commits', async () => {
    const inside = signal();
    const goOn = signal();
    const flow = flowOf((ctx) => {
      const number = calls.length + 1;
      calls.push('body');
      ctx.recordWith(async (manager: EntityManager) => {
        await manager.query('INSERT INTO bookings (name) VALUES ($1)', [`by ${number}`]);
        if (number > 1) return;
        inside.fire();
        await goOn;
      });
      return number;
    });
    const slow = await engineOf(flow);
    const runId = await slow.start(flow);
    const drained = slow.drain();
    await inside;
    const other = await engineOf(flow);
    await other.travel(600_000);
    expect(await other.output(runId)).toBe(2);
    goOn.fire();
    await drained;
    expect(await bookings()).toEqual(['by 2']);
    expect(await slow.output(runId)).toBe(2);
  });

  it('LEASE-5, TX-3: a lost answer of the commit is read again, and the run goes on from it', async () => {
    const host1 = opened();
    const loses = once();
    const flow = workflow('booking', [stageOf((ctx) => ctx.recordWith(book('a'))), { key: 'next', execute: () => 7 }]);
    const run: HostTransactions['run'] = async (...work) => {
      const answer = await host1.run(...work);
      loses(() => {
        throw new Error('Connection terminated unexpectedly');
      });
      return answer;
    };
    const engine = await engineOf(flow, { transactions: { run } });
    const runId = await runOf(engine, flow);
    expect(await engine.output(runId)).toBe(7);
    expect(calls).toEqual(['a']);
  });

  it('TX-3: a commit that failed for now is done again, whole', async () => {
    const host1 = opened();
    const flow = flowOf((ctx) => {
      ctx.recordWith(book('a'));
      return 'once';
    });
    let failures = 0;
    const run: HostTransactions['run'] = async (owner, work, what) => {
      // Once before it begins, once instead of the commit.
      if (failures++ === 0) throw failure('57P03');
      return host1.run(
        owner,
        async (...given) => {
          const answer = await work(...given);
          if (failures++ < 3) throw failure('40001');
          return answer;
        },
        what,
      );
    };
    const deadlocks = once();
    const engine = await engineOf(flow, {
      transactions: { run },
      recordWithin:
        (next) =>
        async (...given) => {
          deadlocks(() => {
            throw failure('40P01');
          });
          return next(...given);
        },
    });
    const runId = await runOf(engine, flow);
    expect(await engine.output(runId)).toBe('once');
    expect(await bookings()).toEqual(['a']);
    expect(calls.length).toBeGreaterThan(1);
    expect((await engine.history(runId)).attempts).toEqual([]);
  });

  it('LEASE-3, TX-3: a transaction that the server ends before its commit is done again, whole', async () => {
    let inside: EntityManager | undefined;
    const flow = flowOf((ctx) => {
      ctx.recordWith((manager: EntityManager) => void (inside ??= manager));
      ctx.recordWith(book('a'));
      return 'once';
    }, ONE_TRY);
    let ended: Promise<void> | undefined;
    const engine = await engineOf(flow, {
      recordWithin: (next) => async (record, decide, transaction) => {
        const verdict = await next(record, decide, transaction);
        ended ??= (async () => {
          const client = (await inside!.queryRunner!.connect()) as { once(event: 'end', told: () => void): void };
          const told = new Promise<void>((resolve) => client.once('end', resolve));
          await inside!.query('SET LOCAL idle_in_transaction_session_timeout = 1');
          await told;
        })();
        await ended;
        return verdict;
      },
    });
    const runId = await runOf(engine, flow);
    expect((await engine.history(runId)).attempts).toEqual([]);
    expect(await engine.output(runId)).toBe('once');
    expect(calls).toEqual(['a', 'a']);
    expect(await bookings()).toEqual(['a']);
  });

  it('TX-3: what only the commit finds out fails the attempt', async () => {
    const flow = flowOf((ctx) => {
      ctx.recordWith(book('a'));
      ctx.recordWith(book('a'));
    }, ONE_TRY);
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect((await engine.history(runId)).run).toMatchObject({
      status: 'FAILED',
      failureMessage: expect.stringContaining('bookings_name_key'),
    });
    expect(await bookings()).toEqual([]);
  });

  it.each<[string, (manager: EntityManager, runId: string) => Promise<unknown>, string]>([
    ['swallows a failed statement', (manager) => manager.query('SELECT nothing').catch(() => 1), 'EXCEPTION'],
    ['commits by itself', (manager) => manager.queryRunner!.commitTransaction(), 'INVALID_STEP'],
    ['leaves a part open', (manager) => manager.queryRunner!.startTransaction(), 'INVALID_STEP'],
    ['commits in SQL', (manager) => manager.query('COMMIT'), 'INVALID_STEP'],
    ['commits in SQL and awaits it not', async (manager) => void manager.query('COMMIT'), 'INVALID_STEP'],
    ['commits in SQL and chains', (manager) => manager.query('COMMIT AND CHAIN'), 'INVALID_STEP'],
    [
      'rolls back in SQL and begins another',
      async (manager) => {
        await manager.query('ROLLBACK');
        await manager.query('BEGIN');
      },
      'INVALID_STEP',
    ],
    [
      'ends its own run',
      (manager, runId) => manager.query(`UPDATE workflow_runs SET status = 'CANCELLED' WHERE id = $1`, [runId]),
      'INVALID_STEP',
    ],
  ])('TX-3: one that %s fails the attempt', async (_what, does, code) => {
    let runId = '';
    const flow = flowOf((ctx) => ctx.recordWith((manager: EntityManager) => does(manager, runId)), ONE_TRY);
    const engine = await engineOf(flow);
    runId = await engine.start(flow);
    await engine.drain();
    const { run } = await engine.history(runId);
    expect([run.status, run.failureCode]).toEqual(['FAILED', code]);
    if (code === 'INVALID_STEP') expect(run.failureMessage).toContain('ctx.recordWith');
  });

  it('RETRY-6, TX-3: the time limit of the stage holds for it, and what comes too late is rolled back', async () => {
    const goOn = signal();
    const late = signal();
    const timeoutMs = 301_000;
    const limits = timeLimitsByHand(timeoutMs);
    const flow = flowOf(
      (ctx) =>
        ctx.recordWith(async (manager: EntityManager) => {
          await book('a')(manager);
          limits.reach();
          await goOn;
          late.fire();
        }),
      { timeoutMs, ...ONE_TRY },
    );
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    jest.restoreAllMocks();
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'STAGE_TIMEOUT' });
    goOn.fire();
    await late;
    await engine.drain();
    expect(await bookings()).toEqual([]);
  });

  it.each<[string, (ctx: Context) => unknown, string]>([
    ['what is no function', (ctx) => ctx.recordWith('x' as never), 'INVALID_STEP'],
    ['inside a step', (ctx) => ctx.step.run('s', () => ctx.recordWith(book('a'))), 'INVALID_STEP'],
    ['a durable call in it', (ctx) => ctx.recordWith(async () => ctx.step.run('s', () => 1) as never), 'STEP_NESTED'],
    ['another one in it', (ctx) => ctx.recordWith(() => ctx.recordWith(book('a'))), 'INVALID_STEP'],
  ])('TX-3: %s is refused', async (_what, body, code) => {
    const flow = flowOf(body, ONE_TRY);
    const engine = await engineOf(flow);
    const runId = await runOf(engine, flow);
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: code });
    expect(await bookings()).toEqual([]);
  });
});
