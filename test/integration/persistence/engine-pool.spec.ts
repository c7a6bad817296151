import type { EventEmitter } from 'node:events';
import { DataSource } from 'typeorm';
import { poolOf } from '../../../lib/persistence/data-source/postgres-driver.js';
import { isDataError, isLockTimeout, isTransientError } from '../../../lib/persistence/database-errors.js';
import { EnginePool } from '../../../lib/persistence/engine-pool.js';
import type { TransactionQuery, EnginePoolOptions, Statement } from '../../../lib/persistence/engine-pool.js';
import { freshDatabase, LIMITS_SENDING } from '../../support/database.js';
import type { FreshDatabase } from '../../support/database.js';

const statement = (name: string, text: string): Statement => ({ name, text });
const ONE = statement('one', 'SELECT $1::int AS one');
const PID = statement('pid', 'SELECT pg_backend_pid() AS pid');
const SLEEP = statement('sleep', 'SELECT pg_sleep(600)');
const SESSION_LIMIT = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
const SENT_WITHIN_30_S = LIMITS_SENDING ? '30000' : '0';
const setting = (name: string): Statement => statement(name, `SELECT current_setting('${name}') AS value`);

describe('EnginePool', () => {
  let database: FreshDatabase;
  const open: EnginePool[] = [];
  const warnings: string[] = [];

  beforeAll(async () => {
    database = await freshDatabase({ empty: true });
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    warnings.length = 0;
  });

  async function openPool(options: EnginePoolOptions = {}, host: object = {}): Promise<EnginePool> {
    const dataSource = new DataSource({ ...database.dataSourceOptions, ...host });
    const pool = await EnginePool.open(dataSource, { warn: (message) => warnings.push(message), ...options });
    open.push(pool);
    return pool;
  }

  async function pidOf(pool: EnginePool): Promise<number> {
    const [row] = await pool.query<{ pid: number }>(PID);
    return row!.pid;
  }

  /** Resolves when the next call has its connection. */
  function connectionTaken(pool: EnginePool): Promise<void> {
    const connections = poolOf(pool.dataSource) as unknown as EventEmitter;
    return new Promise((resolve) => connections.once('acquire', () => resolve()));
  }

  async function terminate(pid: number): Promise<void> {
    const admin = database.openPool({ max: 1 });
    await admin.query('SELECT pg_terminate_backend($1, 60000)', [pid]);
    await admin.end();
  }

  async function inActivity(pool: EnginePool, condition: string, values: unknown[]): Promise<number> {
    const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`;
    for (;;) {
      const [row] = await pool.query<{ pid: number }>(statement('activity', text), values);
      if (row) return row.pid;
    }
  }

  it('JOB-4: statements are prepared once under a name that no other engine shares', async () => {
    const pool = await openPool({ size: 1 });
    const long = statement('a statement with a name that goes on for longer than sixty-three bytes', 'SELECT 2 AS two');
    for (const value of [1, 2]) expect(await pool.query(ONE, [value])).toEqual([{ one: value }]);
    await pool.query(statement('one', 'SELECT 1 AS "another engine, another schema"'));
    await pool.query(long);
    const prepared = await pool.query<{ name: string }>(statement('p', 'SELECT name FROM pg_prepared_statements'));
    const names = prepared.map(({ name }) => name);
    expect(names.filter((name) => /^one_[0-9a-f]{12}$/.test(name))).toHaveLength(2);
    expect(names.filter((name) => name.startsWith('a_statement_with'))).toHaveLength(1);
    expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(63);
  });

  it('FAULT G3: unnamed statements leave nothing in the session', async () => {
    const pool = await openPool({ size: 1, named: false });
    await pool.query(ONE, [1]);
    expect(await pool.query(statement('p', 'SELECT name FROM pg_prepared_statements'))).toEqual([]);
  });

  it('FAULT G3: a prepared statement lost to a pooler is sent again without a name, and so are all others', async () => {
    const pool = await openPool({ size: 1 });
    await pool.query(ONE, [1]);
    await pool.dataSource.query('DEALLOCATE ALL');
    expect(await pool.query(ONE, [2])).toEqual([{ one: 2 }]);
    expect(warnings).toEqual([expect.stringContaining('PgBouncer')]);
    expect(await pool.query(statement('p', 'SELECT name FROM pg_prepared_statements'))).toEqual([]);
  });

  it('FAULT G3: two calls that lose theirs at once both go on, a transaction from its beginning', async () => {
    const pool = await openPool({ size: 2 });
    /** In two transactions that are open at the same time, so on both connections. */
    const onBoth = async (work: (query: TransactionQuery) => Promise<unknown>): Promise<void> => {
      let open = 0;
      let release!: () => void;
      const together = new Promise<void>((resolve) => (release = resolve));
      const one = (): Promise<void> =>
        pool.transaction(async (query) => {
          if (++open === 2) release();
          await together;
          await work(query);
        });
      await Promise.all([one(), one()]);
    };
    await onBoth((query) => query(ONE, [1]));
    await onBoth((query) => query(statement('deallocate', 'DEALLOCATE ALL')));
    let begun = 0;
    let single: Promise<unknown> | undefined;
    const transaction = pool.transaction(async (query) => {
      begun += 1;
      if (!single) {
        const second = connectionTaken(pool);
        single = pool.query(ONE, [6]);
        // Each on its connection: both send in this turn, with names, before either can be answered.
        await second;
      }
      return query(ONE, [5]);
    });
    expect(await transaction).toEqual([{ one: 5 }]);
    expect(await single).toEqual([{ one: 6 }]);
    expect(begun).toBe(2);
    expect(warnings).toHaveLength(1);
  });

  it('OWNER-4: a role, or an owner, is taken for a transaction and never stays with the connection', async () => {
    const pool = await openPool({ size: 1 });
    const role = `taken_${database.name}`;
    await pool.dataSource.query(`CREATE ROLE "${role}"`);
    const WHO = statement('who', `SELECT current_user::text AS role, current_setting('app.owner_id', true) AS owner`);
    const owner = `o'x \\ "é" $1; --`;
    const [user] = await pool.query<{ role: string }>(WHO);
    pool.actAs(role);
    expect(await pool.query(WHO)).toEqual([{ role, owner: null }]);
    expect(await pool.transactionOf(owner, (query) => query(WHO))).toEqual([{ role: user!.role, owner }]);
    expect(await pool.transaction((query) => query(WHO))).toEqual([{ role, owner: '' }]);
    const [left] = (await pool.dataSource.query(WHO.text)) as unknown[];
    expect(left).toEqual({ role: user!.role, owner: '' });
    await pool.dataSource.query(`DROP ROLE "${role}"`);
    await expect(pool.query(WHO)).rejects.toThrow('does not exist');
    pool.actAs(user!.role);
    expect(await pool.query(WHO)).toEqual([{ role: user!.role, owner: '' }]);
  });

  it("OPS-3: limits meant for the host's requests don't reach the engine's statements", async () => {
    const limits = Object.fromEntries(SESSION_LIMIT.map((name) => [name, 1234]));
    const url = `${database.url}?statement_timeout=1234&query_timeout=1`;
    const pool = await openPool({}, { url, extra: { ...limits, query_timeout: 1, max: 50 } });
    for (const name of SESSION_LIMIT) expect(await pool.query(setting(name))).toEqual([{ value: '0' }]);
    expect(await pool.query(setting('application_name'))).toEqual([{ value: 'nestjs-workflow-engine' }]);
  });

  it('OPS-3: the pool is found in replicated setups too, where it only uses the primary', async () => {
    const { url } = database;
    const slaves = [{ url: 'postgres://nobody@127.0.0.1:1/none' }];
    const pool = await openPool({}, { url: undefined, replication: { master: { url }, slaves } });
    expect(await pool.query(ONE, [3])).toEqual([{ one: 3 }]);
    expect(await pool.dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('OPS-3: other databases are refused by name', async () => {
    const host = { options: { type: 'mysql' } } as unknown as DataSource;
    await expect(EnginePool.open(host)).rejects.toMatchObject({ code: 'UNSUPPORTED_DATABASE' });
  });

  it("OPS-3: results don't depend on the type parsers a host has set", async () => {
    const { types } = jest.requireActual<typeof import('pg')>('pg');
    const originals = [20, 23, 114, 1184].map((oid) => [oid, types.getTypeParser(oid)] as const);
    const pool = await openPool();
    try {
      for (const [oid] of originals) types.setTypeParser(oid, () => 'overridden');
      const text = `SELECT 1::int AS i, 9007199254740993::int8 AS b, true AS t, '{"a":1.0}'::json AS j, '\\x00ff'::bytea AS x,
        null::int AS n, 1.5::float8 AS f`;
      expect(await pool.query(statement('types', text))).toEqual([
        { i: 1, b: '9007199254740993', t: true, j: '{"a":1.0}', x: Buffer.from([0, 255]), n: null, f: 1.5 },
      ]);
    } finally {
      for (const [oid, parser] of originals) types.setTypeParser(oid, parser);
    }
  });

  describe('transactions', () => {
    it('FAULT G4: transactions under load each keep their own connection', async () => {
      const pool = await openPool({ size: 3 });
      const pids = statement('tx', 'SELECT pg_backend_pid() AS pid, pg_current_xact_id()::text AS xid');
      await Promise.all(
        Array.from({ length: 50 }, () =>
          pool.transaction(async (query) => {
            const first = await query(pids);
            await query(ONE, [1]);
            expect(await query(pids)).toEqual(first);
          }),
        ),
      );
    });

    it('FAULT F10: a rejected transaction is rolled back whole and answers its first error', async () => {
      const pool = await openPool({ size: 1 });
      await pool.query(statement('create', 'CREATE TABLE IF NOT EXISTS kept (n int PRIMARY KEY)'));
      const insert = statement('insert', 'INSERT INTO kept VALUES ($1)');
      const before = await pidOf(pool);
      await expect(
        pool.transaction(async (query) => {
          await query(insert, [1]);
          throw new Error('first');
        }),
      ).rejects.toThrow('first');
      await expect(
        pool.transaction(async (query) => {
          await query(insert, [2]);
          await query(insert, [2]);
        }),
      ).rejects.toMatchObject({ code: '23505' });
      expect(await pool.query(statement('all', 'SELECT n FROM kept'))).toEqual([]);
      expect(await pidOf(pool)).toBe(before);
    });

    it('FAULT F10: a swallowed error does not pass for a commit', async () => {
      const pool = await openPool();
      const fail = statement('fail', 'SELECT 1/0');
      const swallow = pool.transaction(async (query) => {
        await query(fail).catch(() => undefined);
      });
      await expect(swallow).rejects.toThrow('Rolled back');
    });

    it('FAULT G4: a statement after the end of its transaction is refused', async () => {
      const pool = await openPool();
      const query = await pool.transaction((inside) => Promise.resolve(inside));
      await expect(query(ONE, [1])).rejects.toThrow('too late');
    });

    it('FAULT G1: a rollback on a dead connection hides nothing', async () => {
      const pool = await openPool({ size: 1 });
      const work = pool.transaction(async (query) => {
        const [row] = await query<{ pid: number }>(PID);
        await terminate(row!.pid);
        throw new Error('first');
      });
      await expect(work).rejects.toThrow('first');
      expect(await pool.query(ONE, [1])).toEqual([{ one: 1 }]);
    });
  });

  describe('broken connections', () => {
    it('LEASE-3: who stands still in a transaction loses it, and others get its rows', async () => {
      const pool = await openPool({ silenceMs: 300 });
      const other = await openPool();
      await pool.query(statement('t', 'CREATE TABLE held (n int)'));
      await pool.query(statement('first', 'INSERT INTO held VALUES (1)'));
      const UPDATE = statement('update', 'UPDATE held SET n = n + 1 RETURNING n');
      let freed: unknown;
      const cut = pool.transaction(async (query) => {
        await query(UPDATE);
        // Waits for the row: until the server has ended the transaction that has it.
        freed = await other.query(UPDATE);
        return query(UPDATE);
      });
      expect(isTransientError(await cut.catch((error: unknown) => error))).toBe(true);
      expect(freed).toEqual([{ n: 2 }]);
      expect(await pool.query(UPDATE)).toEqual([{ n: 3 }]);
    });

    it.each([
      ['no limit', 'RESET', 'RESET', '30s', SENT_WITHIN_30_S],
      ['longer ones', "= '2min'", '= 120000', '30s', SENT_WITHIN_30_S],
      ['shorter ones', "= '5s'", '= 6000', '5s', LIMITS_SENDING ? '6000' : '0'],
    ])(
      'LEASE-3: where the database has %s, the shorter limit holds, for transactions and for nothing else',
      async (_, idle, send, expectedIdle, expectedSend) => {
        const admin = database.openPool({ max: 1 });
        const set = async (name: string, to: string): Promise<unknown> =>
          to === 'RESET'
            ? admin.query(`ALTER DATABASE "${database.name}" RESET ${name}`)
            : admin.query(`ALTER DATABASE "${database.name}" SET ${name} ${to}`);
        await set('idle_in_transaction_session_timeout', idle);
        await set('tcp_user_timeout', send);
        const pool = await openPool({ size: 1 });
        const LIMITS = statement(
          'limits',
          `SELECT current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('tcp_user_timeout') AS send`,
        );
        const [before] = await pool.query(LIMITS);
        expect(await pool.transaction((query) => query(LIMITS))).toEqual([{ idle: expectedIdle, send: expectedSend }]);
        expect(String(pool.sendMs)).toBe(expectedSend);
        expect(await pool.query(LIMITS)).toEqual([before]);
        await set('idle_in_transaction_session_timeout', 'RESET');
        await set('tcp_user_timeout', 'RESET');
        await admin.end();
      },
    );

    it('FAULT G1: an idle connection that is terminated is logged and replaced', async () => {
      const pool = await openPool({ size: 1 });
      const pid = await pidOf(pool);
      await terminate(pid);
      expect(await pidOf(pool)).not.toBe(pid);
      expect(warnings.join()).toMatch(/connection of the engine broke/);
    });

    it('FAULT G1: a statement whose connection is terminated rejects as transient, the next one works', async () => {
      const pool = await openPool({ size: 2 });
      const cut = pool.query(SLEEP).catch((error: unknown) => error);
      await terminate(await inActivity(pool, "query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()", []));
      expect(isTransientError(await cut)).toBe(true);
      expect(await pool.query(ONE, [1])).toEqual([{ one: 1 }]);
    });

    it('FAULT G1: a listener that is terminated ends without an uncaught error', async () => {
      const pool = await openPool();
      const listener = await pool.connectListener();
      const ended = new Promise<void>((resolve) => listener.on('end', resolve));
      const { rows } = await listener.query({ text: 'SELECT pg_backend_pid() AS pid' });
      await terminate((rows[0] as { pid: number }).pid);
      await ended;
    });

    it('FAULT C23: a session that was born read-only is not used again', async () => {
      const pool = await openPool({ size: 1 });
      const { name } = database;
      await pool.query(statement('t', 'CREATE TABLE IF NOT EXISTS written (n int)'));
      const insert = statement('insert', 'INSERT INTO written VALUES (1)');
      await pool.query(statement('alter', `ALTER DATABASE "${name}" SET default_transaction_read_only = on`));
      await terminate(await pidOf(pool));
      const refused = await pool.query(insert).catch((error: unknown) => error);
      expect(isTransientError(refused)).toBe(true);
      const admin = database.openPool({ options: '-c default_transaction_read_only=off' });
      await admin.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
      await admin.end();
      // The first one may still meet the session that was opened in between; each is dropped when it refuses.
      await pool.query(insert).catch(() => pool.query(insert));
    });

    it('FAULT K14: close breaks off a statement that hangs, and can be called twice', async () => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      try {
        const pool = await openPool();
        const cut = pool.query(SLEEP).catch((error: unknown) => error);
        const other = await openPool();
        await inActivity(other, "query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()", []);
        const closed = Promise.all([pool.close(), pool.close()]);
        jest.advanceTimersByTime(5_000);
        await closed;
        expect(isTransientError(await cut)).toBe(true);
        await expect(pool.query(ONE, [1])).rejects.toThrow();
      } finally {
        jest.useRealTimers();
      }
    });
  });

  describe.each(['serializable', 'repeatable read'])('where the default isolation is %s', (isolation) => {
    beforeAll(() => alter(`SET default_transaction_isolation = '${isolation}'`));
    afterAll(() => alter('RESET default_transaction_isolation'));

    async function alter(change: string): Promise<void> {
      const admin = database.openPool();
      await admin.query(`ALTER DATABASE "${database.name}" ${change}`);
      await admin.end();
    }

    it('FAULT K28: single statements and transactions run READ COMMITTED, and the cure is logged', async () => {
      const pool = await openPool();
      const isolationOf = setting('transaction_isolation');
      expect(await pool.query(isolationOf)).toEqual([{ value: 'read committed' }]);
      expect(await pool.transaction((query) => query(isolationOf))).toEqual([{ value: 'read committed' }]);
      expect(warnings).toEqual([expect.stringContaining('ALTER ROLE')]);
    });
  });
});

describe('database errors', () => {
  let database: FreshDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ empty: true });
  });

  it('FAULT C23: what says "not now" is transient, what says "not this" is not', () => {
    const transient = ['08006', '53300', '57P01', '57P03', '40001', '40P01', '25006', '25P03', '57014'];
    for (const code of transient) expect(isTransientError({ code })).toBe(true);
    for (const code of ['23505', '22P02', '42P01', '55P03', '42501']) expect(isTransientError({ code })).toBe(false);
    for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND']) {
      expect(isTransientError(Object.assign(new Error(), { code }))).toBe(true);
      expect(isTransientError(Object.assign(new AggregateError([{ code }])))).toBe(true);
    }
    for (const error of [undefined, null, 'text', new Error('nope'), new TypeError('x')]) {
      expect(isTransientError(error)).toBe(false);
    }
    const circular: { cause?: unknown } = {};
    circular.cause = circular;
    expect(isTransientError(circular)).toBe(false);
  });

  it('FAULT C23: errors are recognised through TypeORM, and when nobody listens', async () => {
    const dataSource = await database.openDataSource();
    const ofQuery = (sql: string): Promise<unknown> => dataSource.query(sql).then(String, (error: unknown) => error);
    expect(isDataError(await ofQuery('SELECT 1/0'))).toBe(true);
    expect(isDataError(await ofQuery("SELECT '\\u0000'::jsonb"))).toBe(true);
    const held = dataSource.createQueryRunner();
    await held.startTransaction();
    await held.query('CREATE TABLE locked AS SELECT 1 AS n');
    await held.commitTransaction();
    await held.startTransaction();
    await held.query('SELECT n FROM locked FOR UPDATE');
    expect(isLockTimeout(await ofQuery('SELECT n FROM locked FOR UPDATE NOWAIT'))).toBe(true);
    await held.rollbackTransaction();
    await held.release();
    expect(isTransientError(await ofQuery('SELECT pg_terminate_backend(pg_backend_pid())'))).toBe(true);
    await dataSource.destroy();
    const gone = new DataSource({ type: 'postgres', url: 'postgres://nobody@127.0.0.1:1/none' });
    await expect(EnginePool.open(gone).catch((error: unknown) => isTransientError(error))).resolves.toBe(true);
  });
});
