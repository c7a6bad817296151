import type { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import { v7 } from 'uuid';
import type { CompiledDefinition } from '../../../lib/engine/definition/compiled-definition.js';
import type { FailureRecord } from '../../../lib/engine/codec/failure-record.js';
import type { ClaimedJob, DecideSettled, NewRun, WorkflowStore } from '../../../lib/engine/ports/index.js';
import {
  decideCancel,
  decideFailure,
  decideNext,
  decideRetry,
  decideSettled,
  decideStart,
} from '../../../lib/engine/state/decide.js';
import { createPostgresStore, EnginePool, PostgresStore, tableNames } from '../../../lib/persistence/index.js';
import { freshDatabase } from '../../support/database.js';
import { definition, parallel, single, stage } from '../../support/definitions.js';
import { brokenInvariants, emptyTables } from '../../support/invariants.js';
import { end, graphFlow } from '../../unit/runtime/support/graph-flow.js';
import { exploreAll } from './explore.js';
import { Side } from './stepped-pool.js';

const LINE = definition([single(0, stage('a')), single(1, stage('b'))]);
const GROUP = definition([parallel(0, stage('a'), stage('b')), single(1, stage('c'))]);
const context = { nextId: () => v7(), defaultQueue: 'default' };
const ALL = { all: true } as const;
const FAILURE: FailureRecord = { code: 'EXCEPTION', name: 'Error', message: 'no', retryable: true };
const LIMITS = { staleMs: 300_000, capMs: 0 };

/** What the two sides find: a run, and what an earlier worker has claimed of it. */
interface Ground {
  readonly definition: CompiledDefinition;
  readonly runId: string;
  readonly jobs: Readonly<Record<string, ClaimedJob>>;
  readonly key: Buffer;
}

type Act = (store: WorkflowStore, ground: Ground) => Promise<unknown>;

const leaseOf = ({ jobId, run, stageRun, token }: ClaimedJob) => ({
  jobId,
  runId: run.id,
  stageRunId: stageRun.id,
  token,
});

function decideFor(definition: CompiledDefinition): DecideSettled {
  return (_key, state, events) => decideSettled(definition, state, events, context);
}

function newRun(definition: CompiledDefinition, more: Partial<NewRun> = {}): NewRun {
  const id = v7();
  return {
    id,
    definitionId: 'd',
    definitionVersion: 1,
    definitionKey: 'd@1#f',
    ownerId: null,
    subject: null,
    subjectSeen: false,
    actor: null,
    trace: null,
    priority: 0,
    queue: null,
    input: '{}',
    delayMs: 0,
    startAt: null,
    deadlineMs: null,
    awaited: false,
    idempotency: null,
    transition: decideStart(definition, { id, queue: null, input: '{}' }, false, context),
    ...more,
  };
}

const complete =
  (key: string, handOff: boolean): Act =>
  (store, { definition, jobs }) => {
    const job = jobs[key]!;
    const events = [{ type: 'stage:completed' as const, stageRunId: job.stageRun.id, node: key, stage: key }];
    const base = {
      lease: leaseOf(job),
      attempt: 1,
      outcome: { kind: 'completed' as const, output: `"${key}"` },
      events,
    };
    const node = definition.nodes.find((one) => one.key === job.stageRun.node)!;
    if (node.stages.length > 1) {
      return store.settle([{ ...base, definitionKey: 'd@1#f', node: node.key, key, visit: 1 }], decideFor(definition));
    }
    const run = { id: job.run.id, queue: null, input: '{}', stageRunCount: job.stageRun.ordinal };
    const transition = decideNext(definition, run, node.key, `"${key}"`, context);
    return store.record([
      { ...base, transition, handOff: handOff ? { token: v7(), workerId: 'w1', queues: null } : null },
    ]);
  };

const fail =
  (key: string): Act =>
  (store, { definition, jobs }) => {
    const job = jobs[key]!;
    const record = {
      lease: leaseOf(job),
      attempt: 1,
      definitionKey: 'd@1#f',
      node: job.stageRun.node,
      key,
      visit: 1,
      outcome: { kind: 'failed' as const, failure: FAILURE },
      events: [],
    };
    return store.settle([record], decideFor(definition));
  };

/** Ends a visit of a graph, or an escalation of it. */
const settle =
  (key: string, outcome?: string): Act =>
  (store, { definition, jobs }) => {
    const { stageRun, ...job } = jobs[key]!;
    const record = {
      lease: leaseOf({ stageRun, ...job }),
      ...{ attempt: 1, definitionKey: 'd@1#f', node: stageRun.node, key, visit: 1, events: [] },
      outcome: { kind: 'completed' as const, output: 'null', ...(outcome !== undefined && { outcome }) },
    };
    return store.settle([record], decideFor(definition));
  };

const ACTS: Readonly<Record<string, Act>> = {
  'complete sign': settle('sign'),
  'fail sign': fail('sign'),
  'take an edge': settle('sign#1', 'late'),
  'take the other edge': settle('sign#2', 'later'),
  claim: (store) => store.claim({ workerId: 'w2', limit: 10, queues: null, unserved: [] }),
  'complete a': complete('a', false),
  'complete a and keep on': complete('a', true),
  'complete b': complete('b', false),
  'fail a': fail('a'),
  'retry a later': (store, { jobs }) =>
    store.record([
      {
        lease: leaseOf(jobs['a']!),
        attempt: 1,
        outcome: { kind: 'retry', failure: FAILURE, delayMs: 0 },
        transition: null,
        events: [],
        handOff: null,
      },
    ]),
  'hand a back': (store, { jobs }) =>
    store.record([
      {
        lease: leaseOf(jobs['a']!),
        attempt: 1,
        outcome: { kind: 'released', reason: 'shutdown', delayMs: 0 },
        transition: null,
        events: [],
        handOff: null,
      },
    ]),
  cancel: (store, { definition, runId }) =>
    store.changeRun(runId, ALL, ({ state }) => ({
      transition: decideCancel(definition, state, 'why', true, context) ?? null,
      answer: null,
    })),
  'fail the run': (store, { definition, runId }) =>
    store.changeRun(runId, ALL, ({ state }) => ({
      transition:
        state.status === 'RUNNING'
          ? decideFailure(definition, state, { code: 'X', message: 'x', params: null, node: null }, context)
          : null,
      answer: null,
    })),
  'retry by hand': (store, { definition, runId }) =>
    store.changeRun(runId, ALL, ({ state }) => {
      const decision = decideRetry(definition, state, null, context);
      return { transition: 'transition' in decision ? decision.transition : null, answer: null };
    }),
  reap: (store, { definition, jobs }) => {
    const records = Object.values(jobs).map((job) => ({
      expired: {
        ...leaseOf(job),
        kind: 'execute' as const,
        definitionKey: 'd@1#f',
        node: job.stageRun.node,
        key: job.stageRun.key,
        stage: job.stageRun.stage,
        visit: 1,
        attempt: 1,
        losses: 0,
        workerId: 'w1',
        reason: 'stale' as const,
      },
      outcome: { kind: 'lost' as const, failure: { ...FAILURE, code: 'LEASE_EXPIRED' }, delayMs: 0 },
      events: [],
    }));
    return store.reap(records, LIMITS, decideFor(definition));
  },
  heartbeat: (store, { jobs }) => store.extendLeases(Object.values(jobs).map(leaseOf)),
  'start with a key': (store, { definition, key }) =>
    store.createRuns([newRun(definition, { idempotency: { digest: key, inputDigest: key, ttlMs: 60_000 } })]),
  'await the result': (store, { runId }) => store.awaitRuns([runId], ALL),
};

const ESCALATED_ACTS = [
  'complete sign',
  'fail sign',
  'take the other edge',
  'cancel',
  'fail the run',
  'reap',
  'heartbeat',
  'claim',
];
const OF_GRAPHS = ['complete sign', 'fail sign', 'take an edge', 'take the other edge'];
const LINE_ACTS = Object.keys(ACTS).filter((name) => name !== 'complete b' && !OF_GRAPHS.includes(name));
const GROUP_ACTS = [
  'complete a',
  'complete b',
  'fail a',
  'retry a later',
  'cancel',
  'reap',
  'heartbeat',
  'claim',
  'retry by hand',
];

/** A visit that is at work, and two edges that its escalations take. */
async function escalated(): Promise<CompiledDefinition> {
  const late = (after: string, outcome: string) => ({ after, action: { type: 'take_edge', outcome } });
  const { compiled } = await graphFlow(
    [
      { id: 'sign', type: 'work', escalations: [late('1h', 'late'), late('2h', 'later')] },
      { id: 'next', type: 'work', escalations: [late('1h', 'late')] },
      end(),
    ],
    [
      ['sign', 'end'],
      ['sign', 'next', 'late'],
      ['sign', 'end', 'later'],
      ['next', 'end'],
      ['next', 'end', 'late'],
    ],
    [{ key: 'work', execute: () => null }],
  );
  return compiled;
}

const FILLED = [
  'workflow_runs',
  'workflow_stage_runs',
  'workflow_node_visits',
  'workflow_attempts',
  'workflow_jobs',
  'workflow_idempotency_keys',
  'workflow_outbox',
];

/** Every pair, an act with itself too. */
function pairs(names: readonly string[]): [string, string][] {
  return names.flatMap((a, index) => names.slice(index).map((b): [string, string] => [a, b]));
}

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
  });

  afterAll(async () => {
    await Promise.all([plain.close(), ...pools.map((pool) => pool.close())]);
    await monitor.end();
    await dataSource.destroy();
  });

  /** Of the one connection of each side, which lives as long as the file. */
  const pidOf = async (pool: EnginePool): Promise<number> => {
    const [row] = await pool.query<{ pid: number }>({ name: 'pid', text: 'SELECT pg_backend_pid() AS pid' });
    return row!.pid;
  };

  async function ground(definition: CompiledDefinition, failed: boolean): Promise<Ground> {
    await emptyTables(monitor, FILLED, rounds++);
    const run = newRun(definition);
    await plain.createRuns([run]);
    // Escalations are due.
    await monitor.query(`UPDATE workflow_jobs SET state = 0, run_at = now() WHERE state = 2`);
    const { claimed } = await plain.claim({ workerId: 'w1', limit: 10, queues: null, unserved: [] });
    // Past its lease for whoever looks, and still held.
    await monitor.query(`UPDATE workflow_jobs SET locked_at = locked_at - interval '1 hour'`);
    const jobs = Object.fromEntries(claimed.map((job) => [job.stageRun.key, job]));
    const made = { definition, runId: run.id, jobs, key: Buffer.alloc(32, 7) };
    if (failed) await ACTS['fail a']!(plain, made);
    return made;
  }

  async function explore(definition: CompiledDefinition, first: string, second: string): Promise<number> {
    pids = await Promise.all(pools.map(pidOf));
    const failed = first === 'retry by hand' || second === 'retry by hand';
    return exploreAll(monitor, async () => {
      const found = await ground(definition, failed);
      const sides = pools.map((pool, index) => new Side('AB'[index]!, pool, pids[index]!)) as [Side, Side];
      const acts = [ACTS[first]!, ACTS[second]!];
      sides.forEach((side, index) =>
        side.start(() => acts[index]!(new PostgresStore(side.stepped, tableNames()), found)),
      );
      return {
        sides,
        check: async (trace) => {
          expect({ trace, broken: await brokenInvariants(monitor) }).toEqual({ trace, broken: {} });
        },
      };
    });
  }

  it.each(pairs(LINE_ACTS))(
    'RUN-2, TX-2: in a line, %s beside %s leaves no trace of their order',
    async (first, second) => {
      expect(await explore(LINE, first, second)).toBeGreaterThan(0);
    },
    120_000,
  );

  it.each(ESCALATED_ACTS)(
    'ESC-1, TX-2: of an escalation, taking an edge beside %s leaves no trace of their order',
    async (second) => {
      expect(await explore(await escalated(), 'take an edge', second)).toBeGreaterThan(0);
    },
    120_000,
  );

  it.each(pairs(GROUP_ACTS))(
    'GRP-2, TX-2: in a group, %s beside %s leaves no trace of their order',
    async (first, second) => {
      expect(await explore(GROUP, first, second)).toBeGreaterThan(0);
    },
    120_000,
  );
});
