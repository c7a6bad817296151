import { decideMigrate } from '../../../lib/engine/state/decide-migrate.js';
import { StageFailedError } from '../../../lib/errors/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { end, graphFlow, type GraphEdge, type GraphNode } from './support/graph-flow.js';
import type { TestStage, TestWorkflow } from './support/pipeline.js';
import { TestEngine } from './support/test-engine.js';

/** Faults of this field, as small graphs. */
type Given = StageContext & { readonly input: any };

let engine: TestEngine;
afterEach(() => engine.close());

const did: string[] = [];
beforeEach(() => did.splice(0));
const work: TestStage = { key: 'work', execute: ({ stage }) => void did.push(stage.key) };
const node = (id: string, more: object = {}): GraphNode => ({ id, type: 'work', ...more });
const parallel = (id: string, join: string, branches: readonly string[]): GraphNode => ({
  id,
  type: 'parallel',
  config: { join, branches: branches.map((outcome) => ({ outcome })) },
});

async function start(flow: TestWorkflow, input: unknown = {}): Promise<string> {
  engine = new TestEngine([flow]);
  const runId = await engine.start(flow, input);
  await engine.drain();
  return runId;
}
const status = async (runId: string): Promise<string> => (await engine.history(runId)).run.status;
const open = async (runId: string): Promise<string[]> => {
  const { stageRuns } = await engine.history(runId);
  return stageRuns.flatMap((row) => (row.finishedAt === null ? [`${row.node} ${row.status}`] : []));
};

it('FAULT E1: a join whose branch has nothing to do, or is left out, waits for the other one alone', async () => {
  for (const join of ['all', 'taken']) {
    const flow = await graphFlow(
      [
        parallel('both', join, ['a', 'b']),
        { id: 'maybe', type: 'condition', config: { if: 'input.yes' } },
        node('a', { when: 'input.yes' }),
        node('b'),
        node('after'),
        end(),
      ],
      [
        ['both', 'maybe', 'a'],
        ['maybe', 'a', 'true'],
        ['maybe', 'both', 'false'],
        ['a', 'both'],
        ['both', 'b', 'b'],
        ['b', 'both'],
        ['both', 'after'],
        ['after', 'end'],
      ],
      [work],
    );
    did.splice(0);
    expect(await status(await start(flow, { yes: false }))).toBe('COMPLETED');
    expect(did).toEqual(['b', 'after']);
    await engine.close();
    did.splice(0);
    expect(await status(await start(flow, { yes: true }))).toBe('COMPLETED');
    expect([...did].sort()).toEqual(['a', 'after', 'b']);
    await engine.close();
  }
});

it('FAULT E3: fifty nodes with a child on one of two ways into the join: the run ends when nothing of it is open', async () => {
  const small = await graphFlow([node('small'), end()], [['small', 'end']], [work], { id: 'small' });
  const rows = Array.from({ length: 23 }, (_, at) => at);
  const nodes = [
    parallel('both', 'all', ['a', 'b']),
    ...rows.map((at) => node(`a${at}`)),
    ...rows.map((at) => node(`b${at}`)),
    { id: 'if', type: 'condition', config: { if: 'input.yes' } },
    { id: 'child', type: 'start_workflow', config: { workflow: 'small' } },
    end(),
  ];
  const chain = (name: string): GraphEdge[] => rows.slice(1).map((at) => [`${name}${at - 1}`, `${name}${at}`]);
  const flow = await graphFlow(
    nodes,
    [
      ['both', 'a0', 'a'],
      ...chain('a'),
      ['a22', 'if'],
      ['if', 'child', 'true'],
      ['if', 'both', 'false'],
      ['child', 'both'],
      ['both', 'b0', 'b'],
      ...chain('b'),
      ['b22', 'both'],
      ['both', 'end'],
    ],
    [work],
  );
  for (const yes of [true, false]) {
    did.splice(0);
    engine = new TestEngine([flow, small]);
    const runId = await engine.start(flow, { yes });
    await engine.drain();
    await engine.travel(1_000);
    expect([await status(runId), await open(runId)]).toEqual(['COMPLETED', []]);
    expect(did).toHaveLength(yes ? 47 : 46);
    await engine.close();
  }
});

it('FAULT E7: a branch that is sent back while the other one is at the join keeps it waiting, and its waits are its own', async () => {
  const judged = ['no', 'yes'];
  const judge: TestStage = {
    key: 'judge',
    outcomes: ['yes', 'no'],
    execute: ((ctx: Given) => ctx.outcome(judged.shift()!, { again: judged.length > 0 })) as never,
  };
  const flow = await graphFlow(
    [
      parallel('both', 'all', ['report', 'expense']),
      { id: 'until', type: 'loop', config: { while: 'output("verdict") == null || output("verdict").again' } },
      { id: 'pause', type: 'wait', config: { timer: '1h' } },
      { id: 'verdict', type: 'judge' },
      node('sorry'),
      node('expense'),
      end(),
    ],
    [
      ['both', 'until', 'report'],
      ['until', 'pause', 'each'],
      ['pause', 'verdict'],
      ['verdict', 'sorry', 'no'],
      ['verdict', 'until', 'yes'],
      ['sorry', 'until'],
      ['until', 'both'],
      ['both', 'expense', 'expense'],
      ['expense', 'both'],
      ['both', 'end'],
    ],
    [work, judge],
  );
  const runId = await start(flow);
  expect(did).toEqual(['expense']);
  await engine.travel(3_600_000);
  expect(did).toEqual(['expense', 'sorry']);
  expect(await open(runId)).toEqual(['pause SUSPENDED']);
  await engine.travel(3_599_000);
  expect(await status(runId)).toBe('RUNNING');
  await engine.travel(1_000);
  expect([await status(runId), await open(runId)]).toEqual(['COMPLETED', []]);
});

it('FAULT E9: a loop of three waits goes on after each of them', async () => {
  const flow = await graphFlow(
    [
      { id: 'three', type: 'loop', config: { count: 3 } },
      { id: 'pause', type: 'wait', config: { timer: '1h' } },
      end(),
    ],
    [
      ['three', 'pause', 'each'],
      ['pause', 'three'],
      ['three', 'end'],
    ],
  );
  const runId = await start(flow);
  for (let turn = 1; turn <= 3; turn += 1) {
    expect(await status(runId)).toBe('RUNNING');
    await engine.travel(3_600_000);
  }
  expect([await status(runId), await open(runId)]).toEqual(['COMPLETED', []]);
});

it('FAULT E16: a join of branches that have nothing to do is passed at once', async () => {
  const flow = await graphFlow(
    [parallel('both', 'all', ['a', 'b']), node('a', { when: 'false' }), node('b', { when: 'false' }), end()],
    [
      ['both', 'a', 'a'],
      ['both', 'b', 'b'],
      ['a', 'both'],
      ['b', 'both'],
      ['both', 'end'],
    ],
    [work],
  );
  expect(await status(await start(flow))).toBe('COMPLETED');
});

it('FAULT E4: of a join that waits for the first branch only, a branch that comes too late is cancelled once, with what it waits for', async () => {
  const flow = await graphFlow(
    [
      parallel('first', 'any', ['fast', 'slow']),
      { id: 'fast', type: 'wait', config: { timer: '1h' } },
      { id: 'slow', type: 'wait', config: { timer: '2h' } },
      node('after'),
      end(),
    ],
    [
      ['first', 'fast', 'fast'],
      ['first', 'slow', 'slow'],
      ['fast', 'first'],
      ['slow', 'first'],
      ['first', 'after'],
      ['after', 'end'],
    ],
    [work],
  );
  const runId = await start(flow);
  await engine.travel(7_200_000);
  expect([await status(runId), await open(runId), did]).toEqual(['COMPLETED', [], ['after']]);
});

it('FAULT E17, FAULT E11: one of three branches fails for good: the run fails at once, the others are cancelled and nothing runs again', async () => {
  let tries = 0;
  const fails: TestStage = {
    key: 'fails',
    execute: () => {
      tries += 1;
      throw new StageFailedError('NO', 'no');
    },
  };
  const flow = await graphFlow(
    [
      parallel('three', 'all', ['a', 'b', 'c']),
      { id: 'a', type: 'fails' },
      { id: 'b', type: 'wait', config: { timer: '1h' } },
      { id: 'c', type: 'wait', config: { event: { key: '"never"' } } },
      end(),
    ],
    [
      ['three', 'a', 'a'],
      ['three', 'b', 'b'],
      ['three', 'c', 'c'],
      ['a', 'three'],
      ['b', 'three'],
      ['c', 'three'],
      ['three', 'end'],
    ],
    [fails],
  );
  const runId = await start(flow);
  expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'NO', failedNode: 'a' });
  expect(await open(runId)).toEqual([]);
  await engine.travel(7_200_000);
  expect([tries, await status(runId), await open(runId)]).toEqual([1, 'FAILED', []]);
});

it('FAULT E5: a run is cancelled in the tick in which its waits time out, and so is the child that waits too: each ends once', async () => {
  const waiting = (id: string): Promise<TestWorkflow> =>
    graphFlow(
      [{ id: 'wait', type: 'wait', config: { event: { key: '"never"' }, timeout: '1h' } }, end(), end('late')],
      [
        ['wait', 'end'],
        ['wait', 'late', 'timeout'],
      ],
      [],
      { id },
    );
  const child = await waiting('child');
  const flow = await graphFlow(
    [
      parallel('both', 'any', ['own', 'sub']),
      { id: 'own', type: 'wait', config: { event: { key: '"never"' }, timeout: '1h' } },
      { id: 'sub', type: 'start_workflow', config: { workflow: 'child' } },
      end(),
    ],
    [
      ['both', 'own', 'own'],
      ['both', 'sub', 'sub'],
      ['own', 'both'],
      ['own', 'both', 'timeout'],
      ['sub', 'both'],
      ['both', 'end'],
    ],
  );
  engine = new TestEngine([flow, child]);
  const runId = await engine.start(flow);
  await engine.drain();
  engine.passTime(3_600_000);
  await Promise.all([engine.cancel(runId), engine.runtime.pass.wake()]);
  await engine.travel(1_000);
  await engine.drain();
  const runs = await engine.store.listRuns({ limit: 10 }, { all: true });
  expect(runs).toHaveLength(2);
  expect(['CANCELLED', 'COMPLETED']).toContain(await status(runId));
  for (const { id } of runs) expect([id, await open(id), await engine.jobCount(id)]).toEqual([id, [], 0]);
});

it('VER-1: a visit that was left under another version is counted where the present one has nothing that leaves it', async () => {
  const flow = (escalations: readonly object[]): Promise<TestWorkflow> =>
    graphFlow(
      [
        { id: 'twice', type: 'loop', config: { count: 2 } },
        { id: 'sign', type: 'wait', config: { event: { key: '"signed"' } }, escalations },
        { id: 'late', type: 'wait', config: { event: { key: '"late"' } } },
        end(),
      ],
      [
        ['twice', 'sign', 'each'],
        ...(escalations.length > 0
          ? ([
              ['sign', 'twice'],
              ['sign', 'late', 'late'],
            ] as const)
          : ([['sign', 'late']] as const)),
        ['late', 'twice'],
        ['twice', 'end', 'done'],
      ],
    );
  const before = await flow([{ after: '1h', action: { type: 'take_edge', outcome: 'late' } }]);
  const after = await flow([]);
  engine = new TestEngine([before, after]);
  const runId = await engine.start(before);
  await engine.drain();
  await engine.travel(3_600_000);
  await engine.store.changeRun(runId, { all: true }, ({ state }) => {
    const decision = decideMigrate(after.compiled, after.key, state);
    if ('refused' in decision) throw new Error(decision.refused);
    return { transition: decision.transition, answer: null };
  });
  await engine.emit('late', null);
  await engine.drain();
  for (const key of ['signed', 'late']) {
    await engine.emit(key, null);
    await engine.drain();
  }
  const { run, stageRuns } = await engine.history(runId);
  expect(stageRuns.map(({ key, visit, status }) => `${key} ${visit} ${status}`)).toEqual([
    'twice 1 COMPLETED',
    'sign 1 CANCELLED',
    'sign#1 1 COMPLETED',
    'late 1 COMPLETED',
    'twice 2 COMPLETED',
    'sign 2 COMPLETED',
    'late 2 COMPLETED',
    'twice 3 COMPLETED',
    'end 1 COMPLETED',
  ]);
  expect(run.status).toBe('COMPLETED');
});
