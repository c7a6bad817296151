import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import type { CompiledDefinition } from '../../../lib/engine/definition/index.js';
import type {
  ClaimedJob,
  DecideSettled,
  JoinedRecord,
  NewRun,
  WorkflowStore,
} from '../../../lib/engine/ports/index.js';
import { decideCancel, decideSettled, decideStart } from '../../../lib/engine/state/decide.js';
import { isEscalation } from '../../../lib/engine/state/escalation-key.js';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { end, graphFlow } from '../../unit/runtime/support/graph-flow.js';

const RUNS = 500;
/** So many runs are under way at once: both stores have connections for them. */
const AT_ONCE = 10;
const HOUR_MS = 3_600_000;
const EVERYBODY = { all: true } as const;
const context = { nextId: () => v7(), defaultQueue: 'default' };

/** One whose visits are at work when an edge is to be taken: to an end, or to a node that waits, with escalations of its own. */
async function flow(): Promise<CompiledDefinition> {
  const late = (outcome: string) => [{ after: '1h', action: { type: 'take_edge', outcome } }];
  const { compiled } = await graphFlow(
    [
      { id: 'sign', type: 'work', escalations: late('late') },
      { id: 'more', type: 'condition', config: { if: 'input.more' } },
      { id: 'other', type: 'work', escalations: late('later') },
      end('signed', { outcome: 'signed' }),
      end('late', { outcome: 'late' }),
    ],
    [
      ['sign', 'signed'],
      ['sign', 'more', 'late'],
      ['more', 'other', 'true'],
      ['more', 'late', 'false'],
      ['other', 'signed'],
      ['other', 'late', 'later'],
    ],
    [{ key: 'work', execute: () => null }],
  );
  return compiled;
}

interface Late {
  readonly runId: string;
  readonly more: boolean;
  readonly visit: ClaimedJob;
  readonly escalation: ClaimedJob;
}

let compiled: CompiledDefinition;
let dataSource: DataSource;
/** Two processes. */
let one: WorkflowStore;
let other: WorkflowStore;
let decide: DecideSettled;
let invariants: () => Promise<Record<string, unknown[]>>;

beforeAll(async () => {
  const database = await freshDatabase();
  dataSource = await database.openDataSource();
  [one, other] = [await createPostgresStore(dataSource), await createPostgresStore(dataSource)];
  compiled = await flow();
  decide = (_key, state, events) => decideSettled(compiled, state, events, context);
  invariants = async () => {
    const pool = database.openPool();
    try {
      return await brokenInvariants(pool);
    } finally {
      await pool.end();
    }
  };
});

afterAll(async () => {
  await Promise.all([one.close(), other.close()]);
  await dataSource.destroy();
});

function newRun(more: boolean): NewRun {
  const id = v7();
  const input = JSON.stringify({ more });
  return {
    ...{ id, definitionId: 'flow', definitionVersion: 1, definitionKey: 'flow@1#f', ownerId: null, subject: null },
    ...{ subjectSeen: false, actor: null, trace: null, priority: 0, queue: null, input, delayMs: 0, startAt: null },
    ...{ deadlineMs: null, awaited: false, idempotency: null },
    transition: decideStart(compiled, { id, queue: null, input }, false, context),
  };
}

/** Runs whose visits one process is at, and whose escalations the other one is at. */
async function lateRuns(): Promise<Late[]> {
  const runs = Array.from({ length: RUNS }, (_, at) => newRun(at % 3 === 0));
  await one.createRuns(runs);
  const claim = async (store: WorkflowStore, workerId: string) =>
    (await store.claim({ workerId, limit: RUNS, queues: null, unserved: [] })).claimed;
  const visits = new Map((await claim(one, 'one')).map((job) => [job.run.id, job]));
  for (const store of [one, other]) store.clockOffsetMs += HOUR_MS + 1_000;
  expect(await other.promoteDelayed(RUNS, 0)).toMatchObject({ promoted: RUNS, escalations: RUNS });
  const escalations = new Map((await claim(other, 'other')).map((job) => [job.run.id, job]));
  return runs.map(({ id, input }) => ({
    runId: id,
    more: (JSON.parse(input) as { more: boolean }).more,
    visit: visits.get(id)!,
    escalation: escalations.get(id)!,
  }));
}

/** Records the end of a job, as a worker does: again and alone while somebody else holds the run. Whether it was recorded. */
async function record(store: WorkflowStore, { jobId, run, stageRun, token }: ClaimedJob): Promise<boolean> {
  const { id: stageRunId, node, key, visit, attempt } = stageRun;
  const entry: JoinedRecord = {
    lease: { jobId, runId: run.id, stageRunId, token },
    ...{ attempt, definitionKey: run.definitionKey, node, key, visit, events: [] },
    outcome: { kind: 'completed', output: 'null', ...(isEscalation(stageRun) && { outcome: 'late' }) },
  };
  let [verdict] = await store.settle([entry], decide);
  while (verdict?.verdict === 'busy') [verdict] = await store.settle([entry], decide, { lockTimeoutMs: 5_000 });
  return verdict?.verdict === 'recorded';
}

/** Whether the run was cancelled by this call. */
async function cancel(store: WorkflowStore, runId: string): Promise<boolean> {
  const changed = await store.changeRun(runId, EVERYBODY, ({ state }) => ({
    transition: decideCancel(compiled, state, 'asked', true, context) ?? null,
    answer: null,
  }));
  return changed!.changed;
}

/** Both in every order: one after the other, the other after the one, and, most of them, at once. */
async function race<A, B>(at: number, first: () => Promise<A>, second: () => Promise<B>): Promise<readonly [A, B]> {
  switch (at % 10) {
    case 0: {
      const a = await first();
      return [a, await second()];
    }
    case 1: {
      const b = await second();
      return [await first(), b];
    }
    default: {
      if (at % 2 === 0) return Promise.all([first(), second()]);
      const b = second();
      return Promise.all([first(), b]);
    }
  }
}

async function inTurns<T>(all: readonly T[], work: (one: T, at: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE)
    await Promise.all(all.slice(from, from + AT_ONCE).map((item, at) => work(item, from + at)));
}

/** Status of the run; then its stage runs with what they came to. */
async function rowsOf(runId: string): Promise<readonly [status: string, rows: readonly string[]]> {
  const { run, stageRuns } = (await one.history(runId, EVERYBODY))!;
  return [run.status, stageRuns.map(({ key, status, outcome }) => [key, status, outcome].filter(Boolean).join(' '))];
}

const openOf = (rows: readonly string[]): string[] => rows.filter((row) => /PENDING|RUNNING|SUSPENDED/.test(row));

describe('an edge that an escalation takes', () => {
  it('CANCEL-1, ESC-1: against a cancel of the run, 500 times: one of them wins, and nothing is left open under a run that has ended', async () => {
    const late = await lateRuns();
    const winners = { edge: 0, cancel: 0, both: 0 };
    await inTurns(late, async ({ runId, more, escalation }, at) => {
      const [taken, cancelled] = await race(
        at,
        () => record(other, escalation),
        () => cancel(one, runId),
      );
      const [status, rows] = await rowsOf(runId);
      if (!taken) {
        winners.cancel += 1;
        expect([cancelled, status, rows]).toEqual([true, 'CANCELLED', ['sign CANCELLED', 'sign#1 CANCELLED']]);
      } else if (!more) {
        winners.edge += 1;
        const went = ['sign CANCELLED late', 'sign#1 COMPLETED late', 'more COMPLETED false', 'late COMPLETED late'];
        expect([cancelled, status, rows]).toEqual([false, 'COMPLETED', went]);
      } else {
        // The run went on, and what it went on to was cancelled.
        winners.both += 1;
        const went = ['sign CANCELLED late', 'sign#1 COMPLETED late', 'more COMPLETED true'];
        expect([cancelled, status, rows]).toEqual([
          true,
          'CANCELLED',
          [...went, 'other CANCELLED', 'other#1 CANCELLED'],
        ]);
      }
    });
    // Those that stood in a row are known, whoever was faster in the others.
    expect(winners.cancel).toBeGreaterThanOrEqual(RUNS / 10);
    expect(winners.edge + winners.both).toBeGreaterThanOrEqual(RUNS / 10);
    expect(winners.cancel + winners.edge + winners.both).toBe(RUNS);
    expect(await one.promoteDelayed(RUNS, 10 * HOUR_MS)).toMatchObject({ promoted: 0 });
    expect(await invariants()).toEqual({});
  });

  it("ESC-1: against the visit's own end, 500 times: the run goes on once, by one of the two", async () => {
    const late = await lateRuns();
    const winners = { edge: 0, visit: 0 };
    await inTurns(late, async ({ runId, more, visit, escalation }, at) => {
      const [ended, taken] = await race(
        at,
        () => record(one, visit),
        () => record(other, escalation),
      );
      expect([ended, taken].filter(Boolean)).toHaveLength(1);
      const [status, rows] = await rowsOf(runId);
      if (ended) {
        winners.visit += 1;
        const went = ['sign COMPLETED', 'sign#1 CANCELLED', 'signed COMPLETED signed'];
        expect([status, rows]).toEqual(['COMPLETED', went]);
      } else {
        winners.edge += 1;
        const went = ['sign CANCELLED late', 'sign#1 COMPLETED late'];
        const onward = more
          ? ['more COMPLETED true', 'other PENDING', 'other#1 PENDING']
          : ['more COMPLETED false', 'late COMPLETED late'];
        expect([status, rows]).toEqual([more ? 'RUNNING' : 'COMPLETED', [...went, ...onward]]);
      }
      if (status !== 'RUNNING') expect(openOf(rows)).toEqual([]);
    });
    expect(winners.visit).toBeGreaterThanOrEqual(RUNS / 10);
    expect(winners.edge).toBeGreaterThanOrEqual(RUNS / 10);
    expect(await invariants()).toEqual({});
  });
});
