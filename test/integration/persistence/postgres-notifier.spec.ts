import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { DataSource } from 'typeorm';
import type { Hint } from '../../../lib/engine/ports/notifier.js';
import { EnginePool } from '../../../lib/persistence/engine-pool.js';
import { decodePayload, encodeHint } from '../../../lib/persistence/notifier/hint-payload.js';
import { HintPublisher } from '../../../lib/persistence/notifier/hint-publisher.js';
import { PostgresNotifier } from '../../../lib/persistence/notifier/postgres-notifier.js';
import type { PostgresNotifierOptions } from '../../../lib/persistence/notifier/postgres-notifier.js';
import { tableNames } from '../../../lib/persistence/table-names.js';
import { freshDatabase } from '../../support/database.js';
import type { FreshDatabase } from '../../support/database.js';

/** What a notifier heard, as a queue that tests wait on. */
class Heard {
  private readonly hints: Hint[] = [];
  private wake: () => void = () => undefined;

  constructor(notifier: PostgresNotifier) {
    notifier.subscribe((hint) => {
      this.hints.push(hint);
      this.wake();
    });
  }

  async next(): Promise<Hint> {
    while (this.hints.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.hints.shift()!;
  }
}

const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

describe('PostgresNotifier', () => {
  let database: FreshDatabase;
  const warnings: string[] = [];
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    database = await freshDatabase({ empty: true });
  });

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    warnings.length = 0;
  });

  async function newNotifier(options: PostgresNotifierOptions = {}, place = {}): Promise<PostgresNotifier> {
    const pool = await EnginePool.open(new DataSource(database.dataSourceOptions), { warn: () => undefined });
    closers.push(() => pool.close());
    const notifier = new PostgresNotifier(pool, tableNames(place), { warn: (text) => warnings.push(text), ...options });
    closers.push(() => notifier.stop());
    return notifier;
  }

  /** One that listens already: its first hint, "look for work", was heard. */
  async function newListener(options: PostgresNotifierOptions = {}, place = {}): Promise<Heard> {
    const notifier = await newNotifier(options, place);
    const heard = new Heard(notifier);
    await notifier.start();
    expect(await heard.next()).toEqual({ work: true });
    return heard;
  }

  async function execute<T>(sql: string, values: unknown[] = []): Promise<T[]> {
    const admin = database.openPool({ max: 1 });
    const { rows } = await admin.query(sql, values);
    await admin.end();
    return rows as T[];
  }

  const listenPids = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
    AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify($1, $2)%') AND pid <> pg_backend_pid()`;

  it('JOB-4: a hint reaches another process within milliseconds', async () => {
    const [heard, sender] = [await newListener(), await newNotifier()];
    const took: number[] = [];
    for (let time = 0; time < 5; time += 1) {
      const began = performance.now();
      sender.publish({ work: true, events: true, cancelled: [id(1)], finished: [id(2)] });
      expect(await heard.next()).toEqual({ work: true, events: true, cancelled: [id(1)], finished: [id(2)] });
      took.push(performance.now() - began);
    }
    // The others may have met a machine that stood still.
    expect(Math.min(...took)).toBeLessThan(1_000);
  });

  it('JOB-4: hints published together arrive as one, ids that are many in payloads that fit', async () => {
    const [heard, sender] = [await newListener(), await newNotifier()];
    for (let n = 0; n < 1_000; n += 1) sender.publish({ work: true, cancelled: [id(n)] });
    const ids: string[] = [];
    let messages = 0;
    for (; ids.length < 1_000; messages += 1) ids.push(...((await heard.next()).cancelled ?? []));
    expect(new Set(ids).size).toBe(1_000);
    expect(messages).toBeLessThan(10);
  });

  it('JOB-4: engines with other tables in the same database are not heard', async () => {
    const [heard, other, sender] = [
      await newListener(),
      await newNotifier({}, { prefix: 'other_' }),
      await newNotifier(),
    ];
    other.publish({ cancelled: [id(1)] });
    await other.stop();
    sender.publish({ cancelled: [id(2)] });
    expect(await heard.next()).toEqual({ cancelled: [id(2)] });
  });

  it('JOB-4: what stop() finds unsent is sent', async () => {
    const [heard, sender] = [await newListener(), await newNotifier()];
    sender.publish({ finished: [id(9)] });
    await sender.stop();
    expect(await heard.next()).toEqual({ finished: [id(9)] });
  });

  it('FAULT G3: switched off it neither sends nor listens', async () => {
    const [heard, off, sender] = [await newListener(), await newNotifier({ enabled: false }), await newNotifier()];
    const before = await execute(listenPids);
    await off.start();
    expect(await execute(listenPids)).toHaveLength(before.length);
    off.publish({ cancelled: [id(1)] });
    await off.stop();
    sender.publish({ cancelled: [id(2)] });
    expect(await heard.next()).toEqual({ cancelled: [id(2)] });
  });

  it('FAULT G1: a listener whose connection is terminated listens again, and looks for what it missed', async () => {
    const heard = await newListener();
    for (const { pid } of await execute<{ pid: number }>(listenPids)) {
      await execute('SELECT pg_terminate_backend($1, 60000)', [pid]);
    }
    expect(await heard.next()).toEqual({ work: true });
    (await newNotifier()).publish({ cancelled: [id(3)] });
    expect(await heard.next()).toEqual({ cancelled: [id(3)] });
    expect(warnings).toEqual([expect.stringContaining('was lost'), expect.stringContaining('heard again')]);
  });

  it('FAULT G2: a listener that has lost its registration finds out and registers again', async () => {
    const names = tableNames();
    const pool = await EnginePool.open(new DataSource(database.dataSourceOptions));
    closers.push(() => pool.close());
    const connectListener = pool.connectListener.bind(pool);
    const clients: Awaited<ReturnType<typeof connectListener>>[] = [];
    pool.connectListener = async (url) => {
      const client = await connectListener(url);
      clients.push(client);
      return client;
    };
    const notifier = new PostgresNotifier(pool, names, {
      pingIntervalMs: 20,
      pingTimeoutMs: 200,
      warn: () => undefined,
    });
    closers.push(() => notifier.stop());
    const heard = new Heard(notifier);
    await notifier.start();
    await heard.next();
    await clients[0]!.query({ text: 'UNLISTEN *' });
    expect(await heard.next()).toEqual({ work: true });
    const sender = await newNotifier();
    // A process that stands still for longer than the limit of a ping listens anew: what was sent meanwhile is lost, and it
    // looks for work.
    let next: Hint = { work: true };
    while (next.work) {
      sender.publish({ cancelled: [id(4)] });
      next = await heard.next();
    }
    expect(next).toEqual({ cancelled: [id(4)] });
    expect(clients.length).toBeGreaterThan(1);
  });

  it('FAULT K13: a half-open connection, silent on both sides, is replaced', async () => {
    const server = new URL(database.url);
    const sockets: Socket[] = [];
    const relay = createServer((near) => {
      const far = connect(Number(server.port), server.hostname);
      sockets.push(near, far);
      for (const socket of [near, far]) socket.on('error', () => undefined);
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => relay.close(resolve)));
    closers.push(() => Promise.resolve(sockets.forEach((socket) => socket.destroy())));
    const listenUrl = new URL(database.url);
    [listenUrl.hostname, listenUrl.port] = ['127.0.0.1', String((relay.address() as AddressInfo).port)];
    const heard = await newListener({ listenUrl: listenUrl.href, pingIntervalMs: 20, pingTimeoutMs: 200 });
    // Neither end learns anything: bytes are no longer passed on, and nothing is closed.
    for (const socket of sockets) socket.unpipe();
    expect(await heard.next()).toEqual({ work: true });
    expect(warnings[0]).toContain('nothing comes through it');
  });

  it('FAULT G7: with the database down at start it listens as soon as the database is up', async () => {
    const bad = new URL(database.url);
    bad.port = '1';
    const options: { listenUrl?: string; warn: PostgresNotifierOptions['warn'] } = {
      listenUrl: bad.href,
      warn: (text) => warnings.push(text),
    };
    const pool = await EnginePool.open(new DataSource(database.dataSourceOptions));
    closers.push(() => pool.close());
    const connectListener = pool.connectListener.bind(pool);
    let tries = 0;
    pool.connectListener = (url) => connectListener(++tries < 3 ? url : undefined);
    const notifier = new PostgresNotifier(pool, tableNames(), options);
    closers.push(() => notifier.stop());
    const heard = new Heard(notifier);
    await notifier.start();
    expect(await heard.next()).toEqual({ work: true });
    expect(tries).toBe(3);
    expect(warnings).toHaveLength(2);
  });

  it('FAULT G14: started twice it listens once; stopped and started again it hears again', async () => {
    const notifier = await newNotifier();
    const heard = new Heard(notifier);
    await Promise.all([notifier.start(), notifier.start()]);
    await heard.next();
    expect(await execute(listenPids)).toHaveLength(1);
    await notifier.stop();
    await notifier.start();
    expect(await heard.next()).toEqual({ work: true });
    (await newNotifier()).publish({ finished: [id(5)] });
    expect(await heard.next()).toEqual({ finished: [id(5)] });
  });

  it('JOB-4: a process does not hear its own hints, which it has acted on already', async () => {
    const notifier = await newNotifier();
    const heard = new Heard(notifier);
    await notifier.start();
    await heard.next();
    notifier.publish({ work: true, finished: [id(6)] });
    await notifier.stop();
    await notifier.start();
    expect(await heard.next()).toEqual({ work: true });
    (await newNotifier()).publish({ finished: [id(7)] });
    expect(await heard.next()).toEqual({ finished: [id(7)] });
  });

  it('JOB-4: neither a closed pool nor a receiver that throws reaches the publisher', async () => {
    const notifier = await newNotifier();
    notifier.subscribe(() => {
      throw new Error('mine');
    });
    const heard = new Heard(notifier);
    await notifier.start();
    await heard.next();
    expect(warnings).toEqual([expect.stringContaining('mine')]);
    await closers.shift()!();
    notifier.publish({ work: true });
    await notifier.stop();
  });
});

describe('HintPublisher', () => {
  it('JOB-4: one send is under way at most; what comes meanwhile goes as one, and settled() waits for it', async () => {
    const sends: { payloads: string[]; end: (error?: Error) => void }[] = [];
    let begun: () => void = () => undefined;
    const publisher = new HintPublisher((payloads) => {
      const sent = new Promise<void>((resolve, reject) =>
        sends.push({ payloads, end: (error) => (error ? reject(error) : resolve()) }),
      );
      begun();
      return sent;
    });
    const nextSend = (): Promise<void> => new Promise((resolve) => (begun = resolve));
    let settled = false;

    publisher.publish({ cancelled: ['a'] });
    await nextSend();
    for (const run of ['b', 'c']) publisher.publish({ finished: [run] });
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(sends).toHaveLength(1);
    void publisher.settled().then(() => (settled = true));
    sends[0]!.end(new Error('database gone'));
    await nextSend();
    expect(sends.map(({ payloads }) => payloads)).toEqual([['{"c":["a"]}'], ['{"f":["b","c"]}']]);
    expect(settled).toBe(false);
    sends[1]!.end();
    await publisher.settled();

    publisher.publish({ work: true });
    await nextSend();
    expect(sends[2]!.payloads).toEqual(['{"w":1}']);
    sends[2]!.end();
    await publisher.settled();
  });
});

describe('hint payloads', () => {
  it('JOB-4: every payload stays below what NOTIFY takes, and together they say all', () => {
    const ids = Array.from({ length: 500 }, (_, n) => (n % 7 ? id(n) : `ü"${'\u0000'.repeat(20)}${n}`));
    const payloads = encodeHint({ work: true, cancelled: ids, finished: ids });
    const hints = payloads.map((payload) => (decodePayload(payload) as { hint: Hint }).hint);
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
    expect(hints.flatMap(({ cancelled }) => cancelled ?? [])).toEqual(ids);
    expect(hints.flatMap(({ finished }) => finished ?? [])).toEqual(ids);
    expect(hints.filter(({ work }) => work)).toHaveLength(1);
    expect(encodeHint({ cancelled: ['x'.repeat(8_000)] })).toEqual([]);
    expect(encodeHint({})).toEqual([]);
  });

  it('JOB-4: what others send on the channel is ignored', () => {
    for (const odd of [undefined, '', 'x', 'null', '1', '[]', '{}', '{"w":2}', '{"c":"x"}', '{"c":[1]}', '{"p":1}']) {
      expect(decodePayload(odd)).toBeUndefined();
    }
  });
});
