import type { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import type {
  ClaimedJob,
  EventMatch,
  EventWait,
  NewEvent,
  OwnerScope,
  StoredEvent,
  SuspendRecord,
  SuspendVerdict,
  WorkflowStore,
} from '../../../lib/engine/ports/index.js';
import { createPostgresStore, EnginePool, PostgresStore, tableNames } from '../../../lib/persistence/index.js';
import { cancelling, ending, linear, newId, newRun, startKey } from '../../../lib/testing/conformance/builders.js';
import {
  childWait,
  digestOf,
  eventWait,
  newEvent,
  newSignal,
  signalWait,
  suspending,
} from '../../../lib/testing/conformance/step-builders.js';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { exploreAll } from '../interleaving/explore.js';
import { Side } from '../interleaving/stepped-pool.js';

const ALL: OwnerScope = { all: true };
const SLOW = { lockTimeoutMs: 10_000 };

/** A side of a race: the store whose statements are stepped one by one, and the same connection unstepped. */
interface Seat {
  readonly stepped: PostgresStore;
  readonly free: PostgresStore;
  readonly side: Side;
}

let dataSource: DataSource;
let monitor: Pool;
let plain: WorkflowStore;
let pools: EnginePool[];
let free: PostgresStore[];
let pids: number[];

beforeAll(async () => {
  const database = await freshDatabase();
  dataSource = await database.openDataSource();
  monitor = database.openPool({ max: 2, statement_timeout: 30_000 });
  plain = await createPostgresStore(dataSource);
  pools = [await EnginePool.open(dataSource, { size: 1 }), await EnginePool.open(dataSource, { size: 1 })];
  free = pools.map((pool) => new PostgresStore(pool, tableNames()));
  pids = await Promise.all(
    pools.map(async (pool) => {
      const [row] = await pool.query<{ pid: number }>({ name: 'pid', text: 'SELECT pg_backend_pid() AS pid' });
      return row!.pid;
    }),
  );
});

afterAll(async () => {
  await Promise.all([plain.close(), ...pools.map((pool) => pool.close())]);
  await monitor.end();
  await dataSource.destroy();
});

async function emptyTables(): Promise<void> {
  await monitor.query(
    'TRUNCATE workflow_runs, workflow_stage_runs, workflow_node_visits, workflow_attempts, workflow_jobs, workflow_idempotency_keys, workflow_outbox, workflow_steps, workflow_events',
  );
}

/** Starts a run and claims its one stage. */
async function claimed(given: Parameters<typeof newRun>[0] = {}): Promise<ClaimedJob> {
  const run = newRun(given);
  await plain.createRuns([run]);
  const { claimed: jobs } = await plain.claim({ workerId: 'w', limit: 10, queues: null, unserved: [] });
  return jobs.find((job) => job.run.id === run.id)!;
}

async function suspended(
  waits: Parameters<typeof suspending>[1],
  given: Parameters<typeof newRun>[0] = {},
): Promise<ClaimedJob> {
  const job = await claimed(given);
  await plain.suspend([suspending(job, waits)]);
  return job;
}

type Act<Ground> = (seat: Seat, ground: Ground) => Promise<unknown>;

/** Runs two acts in every order of their statements, each on ground of its own; `end` looks at what has come of it. */
async function inEveryOrder<Ground>(
  prepare: () => Promise<Ground>,
  acts: readonly [Act<Ground>, Act<Ground>],
  end: (ground: Ground, answers: readonly unknown[], trace: string) => Promise<void>,
): Promise<number> {
  return exploreAll(monitor, async () => {
    await emptyTables();
    const ground = await prepare();
    const answers: unknown[] = [];
    const sides = pools.map((pool, index) => new Side('AB'[index]!, pool, pids[index]!)) as [Side, Side];
    sides.forEach((side, index) =>
      side.start(async () => {
        const seat = { side, free: free[index]!, stepped: new PostgresStore(side.stepped, tableNames()) };
        answers[index] = await acts[index]!(seat, ground);
      }),
    );
    return {
      sides,
      check: async (trace) => {
        expect({ trace, broken: await brokenInvariants(monitor) }).toEqual({ trace, broken: {} });
        if (trace.endsWith('(end)')) await end(ground, answers, trace);
      },
    };
  });
}

/** As a worker does: never waits, and alone and waiting where the run was in other hands. */
async function suspend({ stepped, free: rest }: Pick<Seat, 'stepped' | 'free'>, record: SuspendRecord): Promise<void> {
  const [{ verdict }] = (await stepped.suspend([record])) as [SuspendVerdict];
  if (verdict === 'busy') await rest.suspend([record], SLOW);
}

const matchOf = ({ runId, stageRunId, key }: EventWait, { id }: { readonly id: string }): EventMatch => ({
  runId,
  stageRunId,
  key,
  eventId: id,
});

const stored = ({ messageDigest: _digest, ...event }: NewEvent): StoredEvent => event;

/** What a sender does after its commit. */
async function matchEvent(find: WorkflowStore, mark: WorkflowStore, event: StoredEvent): Promise<void> {
  const { waits } = await find.findWaits(event, null, 100);
  const { busy } = await find.fireEvents(waits.map((wait) => matchOf(wait, event)));
  if (busy.length === 0) await mark.markMatched([event.id]);
}

/** What a worker does after its suspend. */
async function checkWaits(find: WorkflowStore, rest: WorkflowStore, waits: readonly EventWait[]): Promise<void> {
  for (const wait of waits) {
    const { events } = await find.findEvents(wait, null, 100);
    const { busy } = await rest.fireEvents(events.map((event) => matchOf(wait, event)));
    if (busy.length === 0) await rest.markChecked([wait]);
  }
}

/** What a pass finds of what those two left behind. */
async function pass(): Promise<void> {
  for (const event of (await plain.unmatchedEvents(0, null, 100)).events) await matchEvent(plain, plain, event);
  await checkWaits(plain, plain, await plain.uncheckedWaits({ olderThanMs: 0 }, 100));
}

async function stepsOf(runId: string) {
  return (await plain.history(runId, ALL))!.steps;
}

async function statusOf(runId: string): Promise<string> {
  return (await plain.history(runId, ALL))!.stageRuns[0]!.status;
}

describe('an event and a suspension, statement by statement', () => {
  it('WAIT-3: in whatever order they cross, the event ends the wait, once', async () => {
    let passes = 0;
    const orders = await inEveryOrder(
      async () => ({ job: await claimed(), event: newEvent({ payload: '{"amount":7}' }) }),
      [
        async ({ side, stepped, free: rest }, { event }) => {
          // Inside a host's transaction, which commits later.
          await side.stepped.transaction((query) =>
            rest.storeEvent(event, { query: (text, values) => query({ name: 'joined', text }, values) }),
          );
          await matchEvent(stepped, rest, stored(event));
        },
        async ({ stepped, free: rest }, { job }) => {
          await suspend({ stepped, free: rest }, suspending(job, [eventWait('payment')]));
          await checkWaits(stepped, rest, await rest.uncheckedWaits([job.stageRun.id], 10));
        },
      ],
      async ({ job }, _answers, trace) => {
        if ((await stepsOf(job.run.id))[0]!.status === 'waiting') passes += 1;
        await pass();
        expect({ trace, steps: await stepsOf(job.run.id), stage: await statusOf(job.run.id) }).toMatchObject({
          trace,
          steps: [{ key: 'payment', status: 'completed', result: '{"amount":7}' }],
          stage: 'PENDING',
        });
        expect(await brokenInvariants(monitor)).toEqual({});
      },
    );
    expect(orders).toBeGreaterThan(50);
    // Only where each side found the run in the other's hands is there something left for a pass.
    expect(passes).toBeLessThan(orders / 2);
  }, 300_000);

  it('WAIT-3: a wait gets one of two events, and a run an event once, whoever fires', async () => {
    const orders = await inEveryOrder(
      async () => {
        const job = await suspended([eventWait('first'), eventWait('second')]);
        const events = [newEvent({ payload: '1' }), newEvent({ payload: '2' })];
        for (const event of events) await plain.storeEvent(event);
        const names = ['first', 'second'].map((key) => ({ runId: job.run.id, stageRunId: job.stageRun.id, key }));
        return { job, matches: events.map(({ id }) => names.map((name) => ({ ...name, eventId: id }))) };
      },
      [
        ({ stepped }, { matches }) => stepped.fireEvents(matches[0]!),
        ({ stepped }, { matches }) => stepped.fireEvents(matches[1]!),
      ],
      async ({ job, matches }, answers) => {
        const fired = answers.flatMap((answer) => (answer as { fired: EventMatch[] }).fired);
        const steps = await stepsOf(job.run.id);
        expect(steps.filter(({ status }) => status === 'completed')).toHaveLength(fired.length);
        expect(fired.length).toBeGreaterThan(0);
        const { fired: later } = await plain.fireEvents(matches.flat());
        expect(fired.length + later.length).toBe(2);
        expect((await stepsOf(job.run.id)).map(({ result }) => result).sort()).toEqual(['1', '2']);
      },
    );
    expect(orders).toBeGreaterThan(5);
  });

  it('WAIT-2: an event and the end of its wait’s time are one outcome', async () => {
    const orders = await inEveryOrder(
      async () => {
        const job = await suspended([eventWait('payment', { expiresInMs: 1_000 })]);
        const event = newEvent();
        await plain.storeEvent(event);
        const [wait] = await plain.uncheckedWaits([job.stageRun.id], 1);
        return { job, event, wait: wait! };
      },
      [
        ({ stepped }, { wait, event }) => stepped.fireEvents([matchOf(wait, event)]),
        ({ stepped }, { wait }) => stepped.fireTimeouts([wait], 60_000),
      ],
      async ({ job }, [fired, timeouts]) => {
        const happened = (fired as { fired: unknown[] }).fired.length;
        expect(happened + (timeouts as { fired: number }).fired).toBe(1);
        expect(await stepsOf(job.run.id)).toMatchObject([{ status: 'completed', timedOut: happened === 0 }]);
      },
    );
    expect(orders).toBeGreaterThan(5);
  });
});

describe('a signal beside other writes, statement by statement', () => {
  it('FAULT K26: a signal and a suspension never miss each other', async () => {
    const orders = await inEveryOrder(
      async () => ({ job: await claimed(), signal: newSignal({ payload: '"yes"' }) }),
      [
        ({ stepped }, { job, signal }) => stepped.sendSignal(signal, job.run.id, ALL),
        (seat, { job }) => suspend(seat, suspending(job, [signalWait('approval')])),
      ],
      async ({ job }) => {
        expect(await stepsOf(job.run.id)).toMatchObject([{ status: 'completed', result: '"yes"' }]);
        expect(await statusOf(job.run.id)).toBe('PENDING');
        const { rows } = await monitor.query('SELECT taken FROM workflow_events');
        expect(rows).toEqual([{ taken: true }]);
      },
    );
    expect(orders).toBeGreaterThan(5);
  });

  it('CANCEL-1: a signal and a cancel: the run ends cancelled, and nothing of it waits or is due', async () => {
    const answers = new Set<unknown>();
    await inEveryOrder(
      () => suspended([signalWait('approval')]),
      [
        ({ stepped }, job) => stepped.sendSignal(newSignal(), job.run.id, ALL),
        ({ stepped }, job) => stepped.changeRun(job.run.id, ALL, () => ({ transition: cancelling(), answer: null })),
      ],
      async (job, [sent]) => {
        answers.add(sent);
        expect(await statusOf(job.run.id)).toBe('CANCELLED');
        expect((await stepsOf(job.run.id))[0]!.status).toBe(sent === 'delivered' ? 'completed' : 'cancelled');
      },
    );
    expect([...answers].sort()).toEqual(['delivered', 'ended']);
  });

  it('WAIT-3: of one message sent twice at once a run gets one', async () => {
    const send = ({ stepped }: Seat, job: ClaimedJob) =>
      stepped.sendSignal(newSignal({ messageDigest: digestOf('m1') }), job.run.id, ALL);
    await inEveryOrder(
      () => suspended([signalWait('first'), signalWait('second')]),
      [send, send],
      async (job, answers) => {
        expect([...answers].sort()).toEqual(['delivered', 'duplicate']);
        expect((await stepsOf(job.run.id)).map(({ status }) => status)).toEqual(['completed', 'waiting']);
      },
    );
  });

  it('WAIT-3: an event of a message that is being stored elsewhere is stored once', async () => {
    const send = ({ stepped }: Seat) => stepped.storeEvent(newEvent({ messageDigest: digestOf('m1') }));
    await inEveryOrder(
      async () => undefined,
      [send, send],
      async (_ground, answers) => {
        expect([...answers].sort()).toEqual([false, true]);
      },
    );
  });

  it('RUN-1: a signal inside a host’s transaction is as if it never was when that is rolled back', async () => {
    await emptyTables();
    const job = await suspended([signalWait('approval')]);
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    expect(await plain.sendSignal(newSignal(), job.run.id, ALL, runner.manager)).toBe('delivered');
    expect(await plain.storeEvent(newEvent(), runner.manager)).toBe(true);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await statusOf(job.run.id)).toBe('SUSPENDED');
    expect(await plain.sendSignal(newSignal(), job.run.id, ALL)).toBe('delivered');
    expect((await plain.unmatchedEvents(0, null, 10)).events).toEqual([]);
  });
});

describe('locks and lost answers', () => {
  beforeEach(emptyTables);

  it('WAKE-3: what fires passes runs that somebody holds, and ends the waits of the others', async () => {
    const jobs = [await suspended([eventWait('payment')]), await suspended([eventWait('payment')])];
    const event = newEvent();
    await plain.storeEvent(event);
    const { waits } = await plain.findWaits(stored(event), null, 10);
    const client = await monitor.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM workflow_runs WHERE id = $1 FOR UPDATE', [jobs[0]!.run.id]);
    const { fired, busy } = await plain.fireEvents(waits.map((wait) => matchOf(wait, event)));
    const timeouts = await plain.fireTimeouts(waits, 0);
    await client.query('ROLLBACK');
    client.release();
    expect(busy.map(({ runId }) => runId)).toEqual([jobs[0]!.run.id]);
    expect(fired.map(({ runId }) => runId)).toEqual([jobs[1]!.run.id]);
    expect(timeouts).toEqual({ fired: 0, ended: 0, busy: 1 });
    expect((await plain.fireEvents(busy)).fired).toEqual(busy);
  });

  it('WAIT-3: matches of runs that are gone are nobody’s to try again', async () => {
    const event = newEvent();
    await plain.storeEvent(event);
    const gone = { runId: newId(), stageRunId: newId(), key: 'payment', eventId: event.id };
    expect(await plain.fireEvents([gone])).toEqual({ fired: [], busy: [] });
  });

  it('LEASE-5: a send whose answer was lost answers the same when it is sent again', async () => {
    const job = await suspended([signalWait('approval')]);
    const [delivered, waiting, event] = [newSignal(), newSignal(), newEvent()];
    for (let time = 0; time < 2; time += 1) {
      expect(await plain.sendSignal(delivered, job.run.id, ALL)).toBe('delivered');
      expect(await plain.sendSignal(waiting, job.run.id, ALL)).toBe('stored');
      expect(await plain.storeEvent(event)).toBe(true);
    }
  });

  it('WAIT-3: of two matches that lose to each other none is lost', async () => {
    const job = await suspended([eventWait('first'), eventWait('second')]);
    const [x, y] = [newEvent({ payload: '"x"' }), newEvent({ payload: '"y"' })];
    await plain.storeEvent(x);
    await plain.storeEvent(y);
    const at = (key: string, { id }: NewEvent): EventMatch => ({
      runId: job.run.id,
      stageRunId: job.stageRun.id,
      key,
      eventId: id,
    });
    // `first` goes to y, so x, which lost it, may go to `second` after all.
    const { fired, busy } = await plain.fireEvents([at('first', y), at('first', x), at('second', x)]);
    expect([fired, busy]).toEqual([[at('first', y)], [at('second', x)]]);
    expect((await plain.fireEvents(busy)).fired).toEqual(busy);
  });
});

describe('parents and children, statement by statement', () => {
  const parentOf = ({ run, stageRun }: ClaimedJob, key = 'child') => ({
    runId: run.id,
    stageRunId: stageRun.id,
    key,
    waits: true,
    depth: 1,
  });

  it('STEP-9: the end of a child and the suspension of its parent never miss each other', async () => {
    const orders = await inEveryOrder(
      async () => {
        const parent = await claimed();
        const child = await claimed({ parent: parentOf(parent), idempotency: startKey('child') });
        return { parent, child };
      },
      [
        async ({ stepped }, { child }) => {
          await stepped.record([linear(child, { transition: ending('"made"') })]);
          await stepped.deliverChildren(10);
        },
        (seat, { parent, child }) => suspend(seat, suspending(parent, [childWait('child', child.run.id)])),
      ],
      async ({ parent }) => {
        // What was held by the other side at that moment is the pass's.
        await plain.deliverChildren(10);
        expect(await stepsOf(parent.run.id)).toMatchObject([{ status: 'completed', result: '"made"' }]);
        expect(await statusOf(parent.run.id)).toBe('PENDING');
        expect(
          (await monitor.query('SELECT 1 FROM workflow_runs WHERE parent_waits AND NOT parent_told')).rows,
        ).toEqual([]);
      },
    );
    expect(orders).toBeGreaterThan(20);
  });

  it('STEP-9: an end that is delivered by two passes at once is delivered once', async () => {
    const deliver = ({ stepped }: Seat) => stepped.deliverChildren(10);
    await inEveryOrder(
      async () => {
        const parent = await claimed();
        const child = await claimed({ parent: parentOf(parent), idempotency: startKey('child') });
        await plain.suspend([suspending(parent, [childWait('child', child.run.id)])]);
        await plain.record([linear(child, { transition: ending('"made"') })]);
        return parent;
      },
      [deliver, deliver],
      async (parent, [a, b]) => {
        expect([a, b].reduce<number>((sum, page) => sum + (page as { delivered: number }).delivered, 0)).toBe(1);
        expect(await statusOf(parent.run.id)).toBe('PENDING');
      },
    );
  });

  it('CANCEL-3: a child that is started while its parent is cancelled is an orphan', async () => {
    const orders = await inEveryOrder(
      async () => {
        const parent = await claimed();
        return { parent, child: newRun({ parent: parentOf(parent), idempotency: startKey('child') }) };
      },
      [
        async ({ side, free: rest }, { child }) => {
          await side.stepped.transaction((query) =>
            rest.createRuns([child], { query: (text, values) => query({ name: 'joined', text }, values) }),
          );
        },
        ({ stepped }, { parent }) =>
          stepped.changeRun(parent.run.id, ALL, () => ({ transition: cancelling(), answer: null })),
      ],
      async ({ child }) => {
        expect(await plain.findOrphans(10)).toMatchObject([{ runId: child.id, parentEnded: 'CANCELLED' }]);
      },
    );
    expect(orders).toBeGreaterThan(5);
  });

  it('CANCEL-3: a child in doubt whose parent lives is no orphan', async () => {
    await emptyTables();
    const parent = await claimed();
    const client = await monitor.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM workflow_runs WHERE id = $1 FOR UPDATE', [parent.run.id]);
    const child = newRun({ parent: parentOf(parent), idempotency: startKey('child') });
    await plain.createRuns([child]);
    expect(await plain.findOrphans(10)).toEqual([]);
    const marked = 'SELECT id FROM workflow_runs WHERE cancel_asked';
    expect((await monitor.query(marked)).rows).toEqual([{ id: child.id }]);
    await client.query('ROLLBACK');
    client.release();
    expect(await plain.findOrphans(10)).toEqual([]);
    expect((await monitor.query(marked)).rows).toEqual([]);
  });

  it('STEP-9: children of a parent that somebody holds keep no others from the page', async () => {
    await emptyTables();
    const parents = [await claimed(), await claimed()];
    for (const [index, parent] of parents.entries()) {
      const child = await claimed({ parent: parentOf(parent), idempotency: startKey(`child-${index}`) });
      await plain.suspend([suspending(parent, [childWait('child', child.run.id)])]);
      await plain.record([linear(child, { transition: ending() })]);
    }
    const client = await monitor.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM workflow_runs WHERE id = $1 FOR UPDATE', [parents[0]!.run.id]);
    expect(await plain.deliverChildren(1)).toMatchObject({ delivered: 1 });
    await client.query('ROLLBACK');
    client.release();
    expect(await statusOf(parents[1]!.run.id)).toBe('PENDING');
    expect(await plain.deliverChildren(1)).toMatchObject({ delivered: 1 });
  });
});
