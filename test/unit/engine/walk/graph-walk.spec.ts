import { validateGraph, type CompiledGraph } from '../../../../lib/engine/graph/index.js';
import type { TurnLimits } from '../../../../lib/engine/walk/index.js';
import { WalkedRun } from './walked-run.js';

type Node = Readonly<Record<string, unknown>> & { readonly id: string };
type Edge = readonly [from: string, to: string, outcome?: string];

const work = (id: string, more: object = {}): Node => ({ id, type: 'work', ...more });
const end = (id = 'end', config: object = {}): Node => ({ id, type: 'end', config });

async function compile(nodes: readonly Node[], edges: readonly Edge[], more: object = {}): Promise<CompiledGraph> {
  const given = { id: 'walked', nodes, edges: edges.map(([from, to, outcome]) => ({ from, to, outcome })), ...more };
  const validation = await validateGraph(JSON.parse(JSON.stringify(given)), {
    types: { work: {}, judge: { outcomes: ['yes', 'no'] } },
  });
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems, null, 2));
  return validation.graph;
}

async function begin(
  nodes: readonly Node[],
  edges: readonly Edge[],
  input: unknown = {},
  more: { readonly limits?: Partial<TurnLimits>; readonly settings?: object } = {},
): Promise<WalkedRun> {
  const { limits, ...rest } = more;
  return new WalkedRun(await compile(nodes, edges, rest), input, limits);
}

const amount = { id: 'large', type: 'condition', config: { if: 'input.amount >= 1000' } };

describe('a walk through a graph', () => {
  it('GRAPH-4: a condition is passed where the run moves, its way is kept, and nothing waits for it', async () => {
    const nodes = [amount, work('sign'), work('pay'), end()];
    const edges: Edge[] = [
      ['large', 'sign', 'true'],
      ['large', 'pay', 'false'],
      ['sign', 'pay'],
      ['pay', 'end'],
    ];
    const small = await begin(nodes, edges, { amount: 12.5 });
    expect(small.statuses()).toEqual(['large COMPLETED false', 'pay PENDING']);
    const large = await begin(nodes, edges, { amount: 1000 });
    expect(large.statuses()).toEqual(['large COMPLETED true', 'sign PENDING']);
    large.completeNode('sign');
    large.completeNode('pay');
    expect(large.end).toEqual({ to: 'COMPLETED', output: '{"outcome":"done"}' });
  });

  it('GRAPH-3: what a node came to is there for those after it, of several visits the newest', async () => {
    const nodes = [
      work('ask'),
      {
        id: 'way',
        type: 'branch',
        config: {
          cases: [
            { outcome: 'big', if: 'output("ask").size > 3' },
            { outcome: 'any', if: 'true' },
          ],
        },
      },
      end('bigger', { outcome: 'big', output: { size: 'output("ask").size', twice: ['input.n * 2'], fixed: 7 } }),
      end('smaller', { outcome: 'small' }),
    ];
    const edges: Edge[] = [
      ['ask', 'way'],
      ['way', 'bigger', 'big'],
      ['way', 'smaller', 'any'],
      ['way', 'smaller', 'else'],
    ];
    const run = await begin(nodes, edges, { n: 4 });
    run.completeNode('ask', { size: 5 });
    expect(run.statuses()).toEqual(['ask COMPLETED', 'way COMPLETED big', 'bigger COMPLETED big']);
    expect(run.end).toEqual({ to: 'COMPLETED', output: '{"size":5,"twice":[8],"fixed":7}' });
  });

  it('GRAPH-4: a node that speaks of the subject, the actor or now is left to a worker, who may go any way', async () => {
    const nodes = [{ id: 'mine', type: 'condition', config: { if: 'subject.owner == actor.id' } }, end('a'), end('b')];
    const run = await begin(nodes, [
      ['mine', 'a', 'true'],
      ['mine', 'b', 'false'],
    ]);
    expect(run.statuses()).toEqual(['mine PENDING']);
    run.completeNode('mine', true, 'false');
    expect(run.statuses()).toEqual(['mine COMPLETED false', 'b COMPLETED done']);
  });

  it('GRP-4: a node whose `when` does not hold is skipped, and leads on as if it had run, or by its own edge', async () => {
    const skipped = work('extra', { when: 'input.wanted' });
    const run = await begin([skipped, end()], [['extra', 'end']], { wanted: false });
    expect(run.statuses()).toEqual(['extra SKIPPED skipped', 'end COMPLETED done']);
    expect(run.events).toEqual(['run:started', 'stage:skipped', 'run:completed']);
    const own: Edge[] = [
      ['extra', 'end'],
      ['extra', 'without', 'skipped'],
    ];
    const led = await begin([skipped, end(), end('without')], own, { wanted: false });
    expect(led.statuses()).toEqual(['extra SKIPPED skipped', 'without COMPLETED done']);
  });

  it('RUN-5: a run goes back to a parallel node that it came to and skipped', async () => {
    const branches = [{ outcome: 'l' }, { outcome: 'r' }];
    const nodes = [
      work('first'),
      { id: 'both', type: 'parallel', when: 'output("first").both', config: { join: 'all', branches } },
      ...[work('l'), work('r'), end()],
    ];
    const edges: Edge[] = [
      ...([
        ['first', 'both'],
        ['both', 'l', 'l'],
        ['both', 'r', 'r'],
      ] as const),
      ...([
        ['l', 'both'],
        ['r', 'both'],
        ['both', 'end'],
      ] as const),
    ];
    const graph = await compile(nodes, edges);
    const run = new WalkedRun(graph, {});
    run.completeNode('first', { both: false });
    expect(run.statuses()).toEqual(['first COMPLETED', 'both SKIPPED skipped', 'end COMPLETED done']);
    expect(run.rerun('both')).toMatchObject({ node: 'both', transition: { rerun: { kept: [run.stageRuns[0]!.id] } } });
  });

  describe('loops', () => {
    const over = (config: object): Node[] => [{ id: 'lines', type: 'loop', config }, work('book'), end()];
    const edges: Edge[] = [
      ['lines', 'book', 'each'],
      ['book', 'lines'],
      ['lines', 'end'],
    ];

    it('GRAPH-4: over a list give each turn its item, from the list as it was when the loop was entered', async () => {
      const nodes = [work('read'), ...over({ forEach: 'output("read").lines' })];
      const run = await begin(nodes, [['read', 'lines'], ...edges]);
      run.completeNode('read', { lines: ['a', 'b'] });
      const turns = (): unknown[] =>
        run.stageRuns.filter(({ node }) => node === 'lines').map(({ output }) => JSON.parse(output!));
      expect(turns()).toEqual([{ index: 0, count: 2, item: 'a', items: ['a', 'b'] }]);
      run.completeNode('book');
      run.completeNode('book');
      expect(turns().slice(1)).toEqual([{ index: 1, count: 2, item: 'b' }, { count: 2 }]);
      expect(run.statuses().slice(1)).toEqual([
        ...['lines COMPLETED each', 'book COMPLETED', 'lines #2 COMPLETED each', 'book #2 COMPLETED'],
        ...['lines #3 COMPLETED done', 'end COMPLETED done'],
      ]);
    });

    it('LIMIT-4: of the turns before it a turn reads the first and the last, however many there were', async () => {
      const run = await begin(over({ forEach: 'input.lines' }), edges, { lines: ['a', 'b', 'c', 'd', 'e'] });
      for (let turn = 0; turn < 3; turn += 1) run.completeNode('book');
      const turns = run.stageRuns.filter(({ node }) => node === 'lines');
      for (const between of turns.slice(1, -1)) Object.assign(between, { output: 'not to be read' });
      run.completeNode('book');
      expect(run.end).toBeNull();
      expect(run.stageRuns.findLast(({ node }) => node === 'lines')!.output).toBe('{"index":4,"count":5,"item":"e"}');
    });

    it('GRAPH-4: while a condition holds turn until it does not', async () => {
      const run = await begin(over({ while: 'output("book") == null || output("book").more' }), edges);
      run.completeNode('book', { more: true });
      run.completeNode('book', { more: false });
      expect(run.end?.to).toBe('COMPLETED');
      expect(run.worked.get('book')).toBe(2);
    });

    it('GRAPH-4: over nothing turn not at all', async () => {
      const run = await begin(over({ forEach: 'input.lines' }), edges, { lines: [] });
      expect(run.statuses()).toEqual(['lines COMPLETED done', 'end COMPLETED done']);
    });

    it('LIMIT-4: more turns than allowed fail the run, at once where they are known', async () => {
      const limits = { maxLoopIterations: 2 };
      const many = await begin(over({ forEach: 'input.lines' }), edges, { lines: [1, 2, 3] }, { limits });
      const failure = { code: 'LOOP_LIMIT_EXCEEDED', node: 'lines', params: { actual: 3, value: 2 } };
      expect(many.end).toMatchObject({ to: 'FAILED', failure });
      expect(many.worked.size).toBe(0);
      const endless = await begin(over({ while: 'true' }), edges, {}, { limits });
      endless.completeNode('book');
      endless.completeNode('book');
      expect(endless.end).toMatchObject({ to: 'FAILED', failure });
      expect(endless.events.at(-1)).toBe('run:failed');
    });

    it('LIMIT-1: every visit counts as a stage run', async () => {
      const settings = { limits: { maxStageRuns: 5 } };
      const run = await begin(over({ count: 10 }), edges, {}, { settings });
      run.completeNode('book');
      run.completeNode('book');
      expect(run.end).toMatchObject({
        to: 'FAILED',
        failure: { code: 'STEP_LIMIT_EXCEEDED', params: { actual: 6, value: 5 } },
      });
      expect(run.pending).toEqual([]);
    });

    it('GRAPH-4: inside each other count for themselves', async () => {
      const nodes = [
        { id: 'outer', type: 'loop', config: { count: 2 } },
        { id: 'inner', type: 'loop', config: { count: 'output("outer").index + 1' } },
        work('deed'),
        end(),
      ];
      const run = await begin(nodes, [
        ['outer', 'inner', 'each'],
        ['inner', 'deed', 'each'],
        ['deed', 'inner'],
        ['inner', 'outer'],
        ['outer', 'end'],
      ]);
      while (run.end === null) run.completeNode('deed');
      expect(run.worked.get('deed')).toBe(3);
    });
  });

  describe('branches', () => {
    const parallel = (join: string, branches: readonly object[] = [{ outcome: 'l' }, { outcome: 'r' }]): Node[] => [
      { id: 'both', type: 'parallel', config: { join, branches } },
      work('left'),
      work('right'),
      work('after'),
      end(),
    ];
    const edges: Edge[] = [
      ['both', 'left', 'l'],
      ['both', 'right', 'r'],
      ['left', 'both'],
      ['right', 'both'],
      ['both', 'after'],
      ['after', 'end'],
    ];

    it('GRP-2: the last two that end in one call are joined once', async () => {
      const run = await begin(parallel('all'), edges);
      expect(run.statuses()).toEqual(['both COMPLETED', 'left PENDING', 'right PENDING']);
      run.complete(run.pending);
      expect(run.statuses().slice(3)).toEqual(['both #2 COMPLETED done', 'after PENDING']);
    });

    it('GRP-1: nothing after the join begins before all are there', async () => {
      const run = await begin(parallel('all'), edges);
      run.completeNode('right');
      expect(run.pending.map(({ node }) => node)).toEqual(['left']);
      run.completeNode('left');
      expect(run.pending.map(({ node }) => node)).toEqual(['after']);
    });

    it('GRAPH-4: of "any" the first goes on, and the others are cancelled', async () => {
      const run = await begin(parallel('any'), edges);
      run.completeNode('right');
      expect(run.statuses()).toEqual([
        ...['both COMPLETED', 'left CANCELLED', 'right COMPLETED', 'both #2 COMPLETED done', 'after PENDING'],
      ]);
      const both = await begin(parallel('any'), edges);
      both.complete(both.pending);
      expect(both.pending.map(({ node }) => node)).toEqual(['after']);
    });

    it('GRAPH-4: of "taken" those are waited for whose condition held; of none, nothing', async () => {
      const branches = [
        { outcome: 'l', when: 'input.left' },
        { outcome: 'r', when: 'input.right' },
      ];
      const one = await begin(parallel('taken', branches), edges, { left: false, right: true });
      expect(one.pending.map(({ node }) => node)).toEqual(['right']);
      one.completeNode('right');
      expect(one.pending.map(({ node }) => node)).toEqual(['after']);
      const none = await begin(parallel('taken', branches), edges, { left: false, right: false });
      expect(none.pending.map(({ node }) => node)).toEqual(['after']);
    });

    it('FAIL-1: a condition that cannot be answered fails the run, and cancels what is open beside it', async () => {
      const nodes = [
        ...parallel('all').slice(0, 4),
        { id: 'which', type: 'condition', config: { if: 'output("left").no.such' } },
        end(),
      ];
      const run = await begin(nodes, [
        ['both', 'left', 'l'],
        ['both', 'right', 'r'],
        ['left', 'which'],
        ['which', 'both', 'true'],
        ['which', 'both', 'false'],
        ['right', 'both'],
        ['both', 'after'],
        ['after', 'end'],
      ]);
      run.completeNode('left', {});
      expect(run.end).toMatchObject({ to: 'FAILED', failure: { code: 'EXPRESSION_FAILED', node: 'which' } });
      expect(run.statuses()).toEqual(['both COMPLETED', 'left COMPLETED', 'right CANCELLED', 'which FAILED']);
      expect(run.events).toEqual(['run:started', 'run:failed']);
    });
  });

  describe('a manual retry', () => {
    const branches = (join: string): Node[] => [
      { id: 'both', type: 'parallel', config: { join, branches: [{ outcome: 'l' }, { outcome: 'r' }] } },
      ...['left', 'right', 'more', 'after'].map((id) => work(id)),
      end(),
    ];
    const edges: Edge[] = [
      ['both', 'left', 'l'],
      ['both', 'right', 'r'],
      ['left', 'both'],
      ['right', 'more'],
      ['more', 'both'],
      ['both', 'after'],
      ['after', 'end'],
    ];
    const rowOf = (run: WalkedRun, node: string) => run.pending.find((row) => row.node === node)!;

    it('RETRY-5: goes on from what ended in the very call in which another branch failed', async () => {
      const run = await begin(branches('all'), edges);
      run.complete([rowOf(run, 'right')], null, undefined, [rowOf(run, 'left')]);
      expect(run.statuses()).toEqual(['both COMPLETED', 'left FAILED', 'right COMPLETED']);
      expect(run.retry()).toBeUndefined();
      expect(run.pending.map(({ node }) => node)).toEqual(['left', 'more']);
      run.completeNode('left');
      expect(run.pending.map(({ node }) => node)).toEqual(['more']);
      run.completeNode('more');
      expect(run.pending.map(({ node }) => node)).toEqual(['after']);
    });

    it('RETRY-5: opens every branch that failed in one call', async () => {
      const run = await begin(branches('all'), edges);
      run.complete([], null, undefined, run.pending);
      expect(run.retry()).toBeUndefined();
      expect(run.pending.map(({ node }) => node)).toEqual(['left', 'right']);
    });

    it('RETRY-5: opens nothing again where "any" has been fulfilled in the call in which a branch failed', async () => {
      const run = await begin(branches('any'), edges);
      run.completeNode('right');
      run.complete([rowOf(run, 'more')], null, undefined, [rowOf(run, 'left')]);
      expect(run.retry()).toBeUndefined();
      expect(run.pending.map(({ node }) => node)).toEqual(['after']);
    });

    it('RETRY-5: is refused where what would follow fails on what the run holds', async () => {
      const settings = { limits: { maxStageRuns: 3 } };
      const run = await begin(branches('all'), edges, {}, { settings });
      run.complete([rowOf(run, 'right')], null, undefined, [rowOf(run, 'left')]);
      expect(run.retry()).toContain('more');
      expect(run.statuses()).toEqual(['both COMPLETED', 'left FAILED', 'right COMPLETED']);
    });
  });

  it('FAIL-1: of two failures in one call the first is the one that the run fails with', async () => {
    const nodes = [
      { id: 'both', type: 'parallel', config: { join: 'all', branches: [{ outcome: 'a' }, { outcome: 'b' }] } },
      work('left', { escalations: [{ after: '1h', action: { type: 'take_edge', outcome: 'late' } }] }),
      work('right'),
      end(),
    ];
    const run = await begin(nodes, [
      ['both', 'left', 'a'],
      ['both', 'right', 'b'],
      ['left', 'both'],
      ['left', 'both', 'late'],
      ['right', 'both'],
      ['both', 'end'],
    ]);
    run.complete(run.pending, null, 'other');
    expect(run.end).toMatchObject({ to: 'FAILED', failure: { node: 'left' } });
    expect(run.escalations).toEqual([]);
  });

  it('GRAPH-4: a stage that ends another way than by its edges fails the run, and says what there is', async () => {
    const nodes = [{ id: 'look', type: 'judge' }, end('y'), end('n')];
    const edges: Edge[] = [
      ['look', 'y', 'yes'],
      ['look', 'n', 'no'],
    ];
    const run = await begin(nodes, edges);
    run.completeNode('look', null, 'perhaps');
    expect(run.end).toMatchObject({ to: 'FAILED', failure: { code: 'UNKNOWN_OUTCOME', node: 'look' } });
    const well = await begin(nodes, edges);
    well.completeNode('look', null, 'no');
    expect(well.statuses()).toEqual(['look COMPLETED no', 'n COMPLETED done']);
  });
});
