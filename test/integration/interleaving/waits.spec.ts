import type { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import type {
  ClaimedJob,
  DecideSettled,
  StepWrite,
  SuspendRecord,
  WorkflowStore,
} from '../../../lib/engine/ports/index.js';
import { createPostgresStore, EnginePool, PostgresStore, tableNames } from '../../../lib/persistence/index.js';
import {
  cancelling,
  completed,
  ending,
  failing,
  leaseOf,
  linear,
  newRun,
  newStageRun,
  newTransition,
  retrying,
  startKey,
} from '../../../lib/testing/conformance/builders.js';
import {
  awaiting,
  begin,
  childWait,
  finish,
  newSignal,
  newWait,
  signalWait,
  sleep,
  suspending,
} from '../../../lib/testing/conformance/step-builders.js';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants, brokenOf, emptyTables } from '../../support/invariants.js';
import { exploreAll } from './explore.js';
import { Side } from './stepped-pool.js';

const ALL = { all: true } as const;
const LIMITS = { staleMs: 300_000, capMs: 0 };
const NOTHING: DecideSettled = () => newTransition();

/** What the two sides find: a stage that runs, a body of an earlier attempt that runs still, and a child. */
interface Ground {
  readonly job: ClaimedJob;
  readonly before: ClaimedJob;
  readonly child: ClaimedJob;
}

type Act = (store: WorkflowStore, ground: Ground) => Promise<unknown>;

/** As a worker does: what somebody else holds is tried again, waiting. */
const suspend =
  (record: (ground: Ground) => SuspendRecord): Act =>
  async (store, ground) => {
    const [verdict] = await store.suspend([record(ground)]);
    if (verdict!.verdict === 'busy') await store.suspend([record(ground)], { lockTimeoutMs: 20_000 });
  };

const write =
  (step: (ground: Ground) => StepWrite): Act =>
  async (store, ground) => {
    // Each try is a step, and multiplies the orders.
    for (let tries = 0; tries < 2; tries += 1) {
      if ((await store.writeSteps([step(ground)]))[0] !== 'busy') return;
    }
  };

/** From its first node, in a new generation. */
const again = () =>
  newTransition({ run: { to: 'RUNNING' }, rerun: { kept: [] }, stageRuns: [newStageRun({ ordinal: 2 })] });

const ORDER = { type: 'order', id: 'o1' };
const POLL = newWait('asked', { kind: 'poll', due: { inMs: 300_000 }, dueIfNew: false });

const ENDS = { cancelWaits: true, reopen: [], freeSteps: true, notes: null };

const ACTS: Readonly<Record<string, Act>> = {
  'suspend for a sleep that is over': suspend(({ job }) => suspending(job, [sleep('nap', 0)])),
  'suspend for a signal': suspend(({ job }) => suspending(job, [signalWait('yes'), sleep('late', 600_000)])),
  'suspend for a child': suspend(({ job, child }) => suspending(job, [childWait('sub', child.run.id)])),
  'suspend for a poll': suspend(({ job }) => suspending(job, [POLL])),
  touch: (store) => store.touch(ORDER, null),
  'suspend for a lease': suspend(({ job }) =>
    suspending(job, [newWait('slow~lease', { kind: 'lease', due: { inMs: 300_000 } })]),
  ),
  'fire what is due': (store) => store.fireDue(10, 0),
  'fire what comes due': (store) => store.fireDue(10, 400_000),
  'end a body of before': write(({ before }) => finish(before, 'slow', { seq: null })),
  'begin a step': write(({ job }) => begin(job, 'next')),
  'await a sleep': write(({ job }) => awaiting(job, [sleep('nap', 0)])),
  'extend leases of steps': (store, { before }) =>
    store.extendSteps([{ stageRunId: before.stageRun.id, key: 'slow', token: before.token, leaseMs: 1_000 }]),
  'send the signal': (store, { job }) => store.sendSignal(newSignal(), job.run.id, ALL),
  'end the child': (store, { child }) => store.record([linear(child)]),
  'deliver children': (store) => store.deliverChildren(10),
  complete: (store, { job }) =>
    store.record([linear(job, { outcome: completed(), transition: ending(), beside: ENDS })]),
  retry: (store, { job }) => store.record([linear(job, { outcome: retrying(), beside: ENDS })]),
  cancel: (store, { job }) =>
    store.changeRun(job.run.id, ALL, ({ row }) => ({
      transition: row.status === 'RUNNING' ? cancelling() : null,
      answer: null,
    })),
  fail: (store, { job }) =>
    store.changeRun(job.run.id, ALL, ({ row }) => ({
      transition: row.status === 'RUNNING' ? failing() : null,
      answer: null,
    })),
  rerun: (store, { job }) =>
    store.changeRun(job.run.id, ALL, ({ row }) => ({
      transition: row.status === 'RUNNING' ? null : again(),
      answer: null,
    })),
  claim: (store) => store.claim({ workerId: 'w2', limit: 10, queues: null, unserved: [] }),
  reap: (store, { job }) => {
    const { stageRun, run } = job;
    const expired = {
      ...leaseOf(job),
      ...({ kind: 'execute', definitionKey: run.definitionKey, node: stageRun.node, key: stageRun.key } as const),
      ...({ stage: stageRun.stage, visit: 1, attempt: 1, losses: 1, workerId: 'w1', reason: 'stale' } as const),
    };
    const failure = { code: 'LEASE_EXPIRED', name: 'Error', message: 'gone', retryable: true };
    return store.reap([{ expired, outcome: { kind: 'lost', failure, delayMs: 0 }, events: [] }], LIMITS, NOTHING);
  },
};

/** What must never be between two commits either, where a stage awaits all that its ledger holds. */
const MISSED: Readonly<Record<string, string>> = {
  'asleep beside a signal that it waits for': `
    SELECT w.key FROM workflow_stage_runs s JOIN workflow_steps w ON w.stage_run_id = s.id AND w.open AND w.kind = 'signal'
      JOIN workflow_events e ON e.run_id = s.run_id AND e.key = w.event_key AND NOT e.taken WHERE s.status = 'SUSPENDED'`,
  'asleep beside an outcome that it has not had': `
    SELECT w.key FROM workflow_stage_runs s JOIN workflow_steps w ON w.stage_run_id = s.id AND w.seq IS NULL AND w.status IN ('completed', 'failed', 'ready')
     WHERE s.status = 'SUSPENDED' AND w.kind <> 'run'`,
  'asleep though what it polls was touched': `
    SELECT w.key FROM workflow_runs r JOIN workflow_stage_runs s ON s.run_id = r.id JOIN workflow_steps w ON w.stage_run_id = s.id AND w.open AND w.kind = 'poll'
     WHERE s.status = 'SUSPENDED' AND r.touches > 0`,
  'asleep for a lease that is over': `
    SELECT l.key FROM workflow_stage_runs s JOIN workflow_steps l ON l.stage_run_id = s.id AND l.open AND l.kind = 'lease' AND l.due_at > clock_timestamp()
     WHERE s.status = 'SUSPENDED' AND NOT EXISTS (SELECT 1 FROM workflow_steps b WHERE b.stage_run_id = s.id AND b.status = 'running')`,
};

/** Each that begins a wait beside what may end it, or the stage, in the same moment. */
const PAIRS: Readonly<Record<string, readonly string[]>> = {
  'suspend for a sleep that is over': [
    'fire what is due',
    'begin a step',
    'cancel',
    'reap',
    'complete',
    'retry',
    'claim',
  ],
  'suspend for a signal': ['send the signal', 'fire what comes due', 'fail'],
  'suspend for a child': ['end the child', 'deliver children'],
  'suspend for a poll': ['touch'],
  'suspend for a lease': ['end a body of before', 'extend leases of steps', 'fire what comes due'],
  'await a sleep': ['fire what is due', 'suspend for a sleep that is over', 'cancel', 'fail', 'complete'],
};
/** What goes on meets what ends it, and what makes it go on too. */
const ASLEEP: Readonly<Record<string, readonly string[]>> = {
  'fire what is due': [
    'fire what is due',
    'send the signal',
    'deliver children',
    'end a body of before',
    'cancel',
    'claim',
  ],
  'end a body of before': ['deliver children'],
  touch: ['touch', 'fire what comes due', 'cancel'],
};
/** The same where the waits stand while the stage runs still: what ends one leaves a mark, for the suspend to see. */
const AWAITED: Readonly<Record<string, readonly string[]>> = {
  'suspend for a sleep that is over': ['fire what is due'],
  'suspend for a signal': ['send the signal'],
  'suspend for a child': ['deliver children'],
  'suspend for a poll': ['touch'],
};
/** What is left of a generation meets the one that begins. */
const ENDED: Readonly<Record<string, readonly string[]>> = {
  rerun: [
    'rerun',
    'end a body of before',
    'fire what comes due',
    'send the signal',
    'deliver children',
    'complete',
    'claim',
  ],
};
const pairs = (of: typeof PAIRS): [string, string][] =>
  Object.entries(of).flatMap(([first, seconds]) => seconds.map((second): [string, string] => [first, second]));

describe('two connections, statement by statement', () => {
  let dataSource: DataSource;
  let monitor: Pool;
  let plain: WorkflowStore;
  let pools: EnginePool[];
  let pids: number[];
  let rounds = 0;

  beforeAll(async () => {
    const database = await freshDatabase();
    dataSource = await database.openDataSource();
    monitor = database.openPool({ max: 2, statement_timeout: 30_000 });
    plain = await createPostgresStore(dataSource);
    pools = [await EnginePool.open(dataSource, { size: 1 }), await EnginePool.open(dataSource, { size: 1 })];
    pids = await Promise.all(pools.map(pidOf));
  });

  afterAll(async () => {
    await Promise.all([plain.close(), ...pools.map((pool) => pool.close())]);
    await monitor.end();
    await dataSource.destroy();
  });

  const pidOf = async (pool: EnginePool): Promise<number> => {
    const [row] = await pool.query<{ pid: number }>({ name: 'pid', text: 'SELECT pg_backend_pid() AS pid' });
    return row!.pid;
  };

  async function claimOf(runId: string): Promise<ClaimedJob> {
    const { claimed } = await plain.claim({ workerId: 'w1', limit: 10, queues: null, unserved: [] });
    return claimed.find((job) => job.run.id === runId)!;
  }

  async function ground(): Promise<Ground> {
    const t = tableNames();
    const filled = [
      t.runs,
      t.stageRuns,
      t.nodeVisits,
      t.attempts,
      t.jobs,
      t.idempotencyKeys,
      t.outbox,
      t.steps,
      t.events,
    ];
    await emptyTables(monitor, filled, rounds++);
    const run = newRun({ subject: ORDER, transition: newTransition({ stageRuns: [newStageRun()] }) });
    await plain.createRuns([run]);
    const before = await claimOf(run.id);
    await plain.writeSteps([begin(before, 'slow')]);
    await plain.record([linear(before, { outcome: retrying() })]);
    const job = await claimOf(run.id);
    const parent = { runId: run.id, stageRunId: job.stageRun.id, key: 'sub', waits: true, depth: 1 };
    const sub = newRun({ parent, idempotency: { ...startKey('sub'), ttlMs: null } });
    await plain.createRuns([sub]);
    const child = await claimOf(sub.id);
    // Past its lease for whoever looks, and still held.
    await monitor.query(`UPDATE ${t.jobs} SET locked_at = locked_at - interval '1 hour'`);
    return { job, before, child };
  }

  async function explore(
    acts: readonly [string, string],
    prepare?: (found: Ground) => Promise<unknown>,
  ): Promise<number> {
    return exploreAll(monitor, async () => {
      const found = await ground();
      await prepare?.(found);
      const sides = pools.map((pool, index) => new Side('AB'[index]!, pool, pids[index]!)) as [Side, Side];
      sides.forEach((side, index) =>
        side.start(() => ACTS[acts[index]!]!(new PostgresStore(side.stepped, tableNames()), found)),
      );
      return {
        sides,
        check: async (trace) => {
          expect({ trace, broken: { ...(await brokenInvariants(monitor)), ...(await missed()) } }).toEqual({
            trace,
            broken: {},
          });
        },
      };
    });
  }

  const missed = (): Promise<Record<string, unknown>> => brokenOf(monitor, MISSED);

  it.each(pairs(PAIRS))(
    'WAIT-1: %s beside %s: nothing is missed, and nothing left asleep',
    async (first, second) => {
      expect(await explore([first, second])).toBeGreaterThan(0);
    },
    120_000,
  );

  const waitsOf = ({ child }: Ground) => [
    sleep('nap', 0),
    signalWait('yes'),
    childWait('sub', child.run.id),
    newWait('slow~lease', { kind: 'lease', due: { inMs: 300_000 } }),
    POLL,
  ];

  it.each(pairs(AWAITED))(
    'WAIT-1: of a stage that runs and has waits, %s beside %s: nothing is missed, and nothing left asleep',
    async (first, second) => {
      const prepare = async (found: Ground): Promise<void> => {
        await plain.writeSteps([awaiting(found.job, waitsOf(found))]);
        await plain.record([linear(found.child)]);
      };
      expect(await explore([first, second], prepare)).toBeGreaterThan(0);
    },
    120_000,
  );

  it.each(pairs(ASLEEP))(
    'WAIT-2: of a stage that sleeps, %s beside %s: it goes on once',
    async (first, second) => {
      const prepare = async (found: Ground): Promise<void> => {
        await plain.suspend([suspending(found.job, waitsOf(found))]);
        await plain.record([linear(found.child)]);
      };
      expect(await explore([first, second], prepare)).toBeGreaterThan(0);
    },
    120_000,
  );

  it.each(pairs(ENDED))(
    'RUN-5: of a run that was cancelled while it slept, %s beside %s: what was does not touch what begins',
    async (first, second) => {
      const prepare = async (found: Ground): Promise<void> => {
        await plain.suspend([suspending(found.job, waitsOf(found))]);
        await ACTS['cancel']!(plain, found);
        await plain.record([linear(found.child)]);
      };
      expect(await explore([first, second], prepare)).toBeGreaterThan(0);
    },
    120_000,
  );
});
