import { StageFailedError } from '../../../lib/errors/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { end, graphFlow, type GraphEdge, type GraphNode } from './support/graph-flow.js';
import type { TestStage } from './support/pipeline.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

type Given = StageContext & { readonly input: any };

let engine: TestEngine;
afterEach(() => engine.close());

const stage = (key: string, execute: (ctx: Given) => unknown, given: Partial<TestStage> = {}): TestStage => ({
  key,
  execute: execute as never,
  ...given,
});
const work = (id: string, type: string, more: object = {}): GraphNode => ({ id, type, ...more });

async function start(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  stages: readonly TestStage[],
  { input = {}, given = {}, ...run }: { input?: unknown; given?: TestEngineGiven; subject?: object } = {},
): Promise<string> {
  const flow = await graphFlow(nodes, edges, stages);
  engine = new TestEngine([flow], given);
  const runId = await engine.start(flow, input, run as never);
  await engine.drain();
  return runId;
}

async function visited(runId: string): Promise<string[]> {
  const { stageRuns } = await engine.history(runId);
  return stageRuns.map(({ node, status, outcome }) => [node, status, ...(outcome ? [outcome] : [])].join(' '));
}

const status = async (runId: string): Promise<string> => (await engine.history(runId)).run.status;

describe('a run of a graph', () => {
  it('GRAPH-1: stages run with what their nodes give them: a mapping, or the input of the run', async () => {
    const seen: unknown[] = [];
    const note = stage('note', ({ input }) => (seen.push(input), { seen: seen.length }));
    const nodes = [
      work('first', 'note'),
      work('second', 'note', { input: { amount: 'input.amount * 2', before: 'output("first").seen', kind: '"x"' } }),
      end('end', { output: { count: 'output("second").seen' } }),
    ];
    const runId = await start(
      nodes,
      [
        ['first', 'second'],
        ['second', 'end'],
      ],
      [note],
      { input: { amount: 2 } },
    );
    expect(seen).toEqual([{ amount: 2 }, { amount: 4, before: 1, kind: 'x' }]);
    expect(await engine.output(runId)).toEqual({ count: 2 });
  });

  it('GRAPH-1: a stage goes on by the outcome that it names, one of those that its type has', async () => {
    const judge = stage('judge', (ctx) => ctx.outcome(ctx.input.ok ? 'yes' : 'no', { by: 'judge' }), {
      outcomes: ['yes', 'no'],
    });
    const nodes = [work('ask', 'judge'), end('good', { outcome: 'good' }), end('bad', { output: 'output("ask")' })];
    const edges: GraphEdge[] = [
      ['ask', 'good', 'yes'],
      ['ask', 'bad', 'no'],
    ];
    const refused = await start(nodes, edges, [judge], { input: { ok: false } });
    expect(await visited(refused)).toEqual(['ask COMPLETED no', 'bad COMPLETED done']);
    expect(await engine.output(refused)).toEqual({ by: 'judge' });
    await engine.close();

    const odd = stage('judge', (ctx) => ctx.outcome('maybe', null), { outcomes: ['yes', 'no'] });
    const failed = await start(nodes, edges, [odd]);
    expect((await engine.history(failed)).run).toMatchObject({ status: 'FAILED', failureCode: 'UNKNOWN_OUTCOME' });
  });

  it('GRAPH-4: a node that speaks of the owner, of the actor or of now is looked at by a worker, and leads on alike', async () => {
    const turns: unknown[] = [];
    const turn = stage('turn', ({ input }) => void turns.push(input.item));
    const nodes = [
      { id: 'ours', type: 'condition', config: { if: 'owner == null && now > timestamp("2020-01-01T00:00:00Z")' } },
      { id: 'each', type: 'loop', config: { forEach: 'owner == null ? input.items : []' } },
      work('turn', 'turn', { input: { item: 'output("each").item' } }),
      {
        id: 'both',
        type: 'parallel',
        config: {
          join: 'taken',
          branches: [
            { outcome: 'a', when: 'actor == null' },
            { outcome: 'b', when: 'actor != null' },
          ],
        },
      },
      work('a', 'turn', { input: { item: '"a"' } }),
      work('b', 'turn', { input: { item: '"b"' } }),
      end('end', { output: { turns: 'output("each").count', by: 'actor' } }),
      end('never'),
    ];
    const edges: GraphEdge[] = [
      ['ours', 'each', 'true'],
      ['ours', 'never', 'false'],
      ['each', 'turn', 'each'],
      ['turn', 'each'],
      ['each', 'both'],
      ['both', 'a', 'a'],
      ['both', 'b', 'b'],
      ['a', 'both'],
      ['b', 'both'],
      ['both', 'end'],
    ];
    const runId = await start(nodes, edges, [turn], { input: { items: [1, 2] } });
    expect(await visited(runId)).toEqual([
      'ours COMPLETED true',
      'each COMPLETED each',
      'turn COMPLETED',
      'each COMPLETED each',
      'turn COMPLETED',
      'each COMPLETED done',
      'both COMPLETED',
      'a COMPLETED',
      'both COMPLETED done',
      'end COMPLETED done',
    ]);
    expect(turns).toEqual([1, 2, 'a']);
    expect(await engine.output(runId)).toEqual({ turns: 2, by: null });
    expect(await status(runId)).toBe('COMPLETED');
  });

  it('GRAPH-4: a node whose `when` only a worker can ask is skipped by it before its stage is called', async () => {
    const called: string[] = [];
    const nodes = [
      work('out', 'call', { when: 'owner != null' }),
      work('in', 'call', { when: 'owner == null' }),
      end('end', { output: { out: 'output("out")', in: 'output("in")' } }),
    ];
    const call = stage('call', (ctx) => (called.push(ctx.stage.key), 'called'));
    const runId = await start(
      nodes,
      [
        ['out', 'in'],
        ['in', 'end'],
      ],
      [call],
    );
    expect(called).toEqual(['in']);
    expect(await engine.output(runId)).toEqual({ out: null, in: 'called' });
  });

  it('GRAPH-4: a `when` that only a worker can ask is asked of what a run passes by itself, too; of a loop once, not at its turns', async () => {
    const nodes = [
      { id: 'small', type: 'condition', when: 'owner != null', config: { if: 'input.items == []' } },
      { id: 'never', type: 'loop', when: 'owner != null', config: { count: 2 } },
      { id: 'twice', type: 'loop', when: 'owner == null && output("again") == null', config: { count: 2 } },
      {
        id: 'each',
        type: 'loop',
        when: 'output("turn") == null',
        config: { forEach: 'owner == null ? input.items : []' },
      },
      {
        id: 'late',
        type: 'loop',
        when: 'owner == null && output("once") == null',
        config: { while: 'owner == null && output("once") == null' },
      },
      ...['no', 'again', 'turn', 'once'].map((id) => work(id, 'turn')),
      end(),
      end('other'),
    ];
    const edges: GraphEdge[] = [
      ...(['true', 'false'] as const).map((outcome): GraphEdge => ['small', 'other', outcome]),
      ...[['small', 'never', 'skipped'] as const, ['never', 'no', 'each'] as const, ['no', 'never'] as const],
      ...[['never', 'twice'] as const, ['twice', 'again', 'each'] as const, ['again', 'twice'] as const],
      ...[['twice', 'each'] as const, ['each', 'turn', 'each'] as const, ['turn', 'each'] as const],
      ...[
        ['each', 'late'] as const,
        ['late', 'once', 'each'] as const,
        ['once', 'late'] as const,
        ['late', 'end'] as const,
      ],
    ];
    const turn = stage('turn', () => 'turned');
    const runId = await start(nodes, edges, [turn], { input: { items: [1, 2] } });
    expect(await visited(runId)).toEqual([
      ...['small SKIPPED', 'never SKIPPED'],
      ...['twice COMPLETED each', 'again COMPLETED', 'twice COMPLETED each', 'again COMPLETED', 'twice COMPLETED done'],
      ...['each COMPLETED each', 'turn COMPLETED', 'each COMPLETED each', 'turn COMPLETED', 'each COMPLETED done'],
      ...['late COMPLETED each', 'once COMPLETED', 'late COMPLETED done', 'end COMPLETED done'],
    ]);
  });

  it('GRAPH-3: an expression that gives nothing on these values fails the run with the node, and is not tried again', async () => {
    const nodes = [work('first', 'note', { input: { x: 'owner.name' } }), end()];
    const runId = await start(nodes, [['first', 'end']], [stage('note', () => null)]);
    const { run, stageRuns } = await engine.history(runId);
    expect(run).toMatchObject({ status: 'FAILED', failureCode: 'EXPRESSION_FAILED', failedNode: 'first' });
    expect(stageRuns[0]).toMatchObject({ attempt: 1 });
  });

  it('RETRY-4: what a node was given of a moving world stays the same for each of its attempts', async () => {
    const seen: unknown[] = [];
    const fails = stage('fails', ({ input, attempt }) => {
      seen.push(input.n);
      if (attempt < 3) throw new Error('not yet');
    });
    const nodes = [work('first', 'fails', { input: { n: 'subject.n' } }), end()];
    let n = 0;
    const subjects = { load: async () => ({ kind: 'found' as const, subject: { n: ++n } }) };
    const subject = { type: 'thing', id: '1' };
    const runId = await start(nodes, [['first', 'end']], [fails], { given: { subjects: subjects as never }, subject });
    expect(await status(runId)).toBe('COMPLETED');
    expect(n).toBe(3);
    expect(seen).toEqual([1, 1, 1]);
  });
});

describe('wait', () => {
  const after = (config: object, edges: readonly GraphEdge[] = []): [GraphNode[], GraphEdge[]] => [
    [{ id: 'wait', type: 'wait', config }, end('end', { output: 'output("wait")' }), end('late', { outcome: 'late' })],
    [['wait', 'end'], ...(edges.length > 0 ? edges : [['wait', 'late', 'timeout'] as const])],
  ];

  it('GRAPH-4: a timer and an instant pass', async () => {
    const [nodes, edges] = [
      [
        { id: 'timer', type: 'wait', config: { timer: '2 days' } },
        { id: 'until', type: 'wait', config: { until: 'now + duration("24h")' } },
        end(),
      ],
      [
        ['timer', 'until'],
        ['until', 'end'],
      ] as GraphEdge[],
    ];
    const runId = await start(nodes, edges, []);
    expect(await visited(runId)).toEqual(['timer SUSPENDED']);
    await engine.travel(2 * 86_400_000);
    expect(await visited(runId)).toEqual(['timer COMPLETED', 'until SUSPENDED']);
    await engine.travel(23 * 3_600_000);
    expect(await status(runId)).toBe('RUNNING');
    await engine.travel(3_600_000);
    expect(await status(runId)).toBe('COMPLETED');
  });

  it('GRAPH-4: an event ends it with its payload, where the condition holds; else its time does', async () => {
    const config = { event: { key: '"paid:" + input.id', where: 'event.amount > 10' }, timeout: '1h' };
    const [nodes, edges] = after(config);
    const runId = await start(nodes, edges, [], { input: { id: 'x' } });
    await engine.emit('paid:x', { amount: 5 });
    await engine.emit('paid:y', { amount: 50 });
    await engine.drain();
    expect(await status(runId)).toBe('RUNNING');
    await engine.emit('paid:x', { amount: 50 });
    await engine.drain();
    expect(await engine.output(runId)).toEqual({ amount: 50 });
    await engine.close();

    const late = await start(nodes, edges, [], { input: { id: 'x' } });
    await engine.travel(3_600_000);
    expect(await visited(late)).toEqual(['wait COMPLETED timeout', 'late COMPLETED late']);
  });

  it('WAIT-5: without an edge for it the end of its time fails the wait', async () => {
    const config = { event: { key: '"paid"' }, timeout: '1h' };
    const nodes = [{ id: 'wait', type: 'wait', config }, end()];
    const runId = await start(nodes, [['wait', 'end']], []);
    await engine.travel(3_600_000);
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'WAIT_TIMEOUT' });
  });

  it('GRAPH-4: a condition on the subject is asked until it holds, of the subject as it is then', async () => {
    let paid = false;
    const subjects = { load: async () => ({ kind: 'found' as const, subject: { paid } }) };
    const nodes = [{ id: 'wait', type: 'wait', config: { condition: 'subject.paid', every: '10m' } }, end()];
    const given = { subjects: subjects as never };
    const runId = await start(nodes, [['wait', 'end']], [], { given, subject: { type: 'thing', id: '1' } });
    await engine.travel(600_000);
    expect(await status(runId)).toBe('RUNNING');
    paid = true;
    await engine.travel(600_000);
    expect(await status(runId)).toBe('COMPLETED');
  });
});

describe('start_workflow and emit_event', () => {
  const child = (fails: boolean): TestStage =>
    stage('work', ({ input }) => {
      if (fails) throw new StageFailedError('NO_MONEY', 'There is no money.');
      return { paid: input.amount };
    });
  const parent = (edges: readonly GraphEdge[]): readonly [GraphNode[], GraphEdge[]] => [
    [
      { id: 'pay', type: 'start_workflow', config: { workflow: 'child' }, input: { amount: 'input.amount + 1' } },
      end('end', { output: 'output("pay")' }),
      end('poor', { output: 'output("pay")' }),
    ],
    [['pay', 'end'], ...edges],
  ];

  async function family(fails: boolean, edges: readonly GraphEdge[]): Promise<string> {
    const [nodes, all] = parent(edges);
    const kept = edges.length > 0 ? nodes : nodes.slice(0, 2);
    const flow = await graphFlow(kept, all);
    const small = await graphFlow(
      [work('do', 'work'), end('end', { output: 'output("do")' })],
      [['do', 'end']],
      [child(fails)],
      { id: 'child' },
    );
    engine = new TestEngine([flow, small]);
    const runId = await engine.start(flow, { amount: 1 });
    await engine.drain();
    await engine.travel(1_000);
    return runId;
  }

  it('GRAPH-4: the node ends with the child that it started', async () => {
    const runId = await family(false, []);
    expect(await engine.output(runId)).toEqual({ paid: 2 });
  });

  it('GRAPH-4: a child that failed leads on by `failed`, where there is such an edge, and fails the node where there is none', async () => {
    const runId = await family(true, [['pay', 'poor', 'failed']]);
    expect(await engine.output(runId)).toMatchObject({ code: 'CHILD_RUN_FAILED' });
    await engine.close();
    const failed = await family(true, []);
    expect((await engine.history(failed)).run).toMatchObject({ status: 'FAILED', failureCode: 'CHILD_RUN_FAILED' });
  });

  it('GRAPH-4: an event that a node tells of reaches the waits of others, once for each visit', async () => {
    const waiting = await graphFlow(
      [{ id: 'wait', type: 'wait', config: { event: { key: '"paid"' } } }, end('end', { output: 'output("wait")' })],
      [['wait', 'end']],
      [],
      { id: 'waiting' },
    );
    const flow = await graphFlow(
      [{ id: 'tell', type: 'emit_event', config: { key: '"pa" + "id"' }, input: { n: 'input.n' } }, end()],
      [['tell', 'end']],
    );
    engine = new TestEngine([waiting, flow]);
    const waits = await engine.start(waiting);
    await engine.drain();
    await engine.start(flow, { n: 3 });
    await engine.drain();
    await engine.drain();
    expect(await engine.output(waits)).toEqual({ n: 3 });
  });
});

describe('a manual retry', () => {
  const both = {
    id: 'both',
    type: 'parallel',
    config: { join: 'all', branches: [{ outcome: 'a' }, { outcome: 'b' }] },
  };
  const nodes = [both, work('a', 'fails'), work('b', 'waits'), end()];
  const edges: GraphEdge[] = [
    ['both', 'a', 'a'],
    ['both', 'b', 'b'],
    ['a', 'both'],
    ['b', 'both'],
    ['both', 'end'],
  ];

  it('RETRY-5: opens the node that failed, and the branches that were cancelled with it', async () => {
    let fail = true;
    const stages = [
      stage('fails', () => {
        if (fail) throw new StageFailedError('NO', 'no');
      }),
      stage('waits', async ({ step }) => void (await step.sleep('long', '1h'))),
    ];
    const runId = await start(nodes, edges, stages);
    expect(await visited(runId)).toEqual(['both COMPLETED', 'a FAILED', 'b CANCELLED']);
    fail = false;
    await engine.retry(runId);
    await engine.drain();
    expect(await visited(runId)).toEqual(['both COMPLETED', 'a COMPLETED', 'b SUSPENDED']);
    await engine.travel(3_600_000);
    expect(await status(runId)).toBe('COMPLETED');
  });

  it('RETRY-5: is refused where an expression failed on what the run holds', async () => {
    const condition = { id: 'if', type: 'condition', config: { if: 'input.missing > 1' } };
    const runId = await start(
      [condition, end('yes'), end('no')],
      [
        ['if', 'yes', 'true'],
        ['if', 'no', 'false'],
      ],
      [],
    );
    expect(await status(runId)).toBe('FAILED');
    await engine.retry(runId);
    expect(await status(runId)).toBe('FAILED');
  });
});
