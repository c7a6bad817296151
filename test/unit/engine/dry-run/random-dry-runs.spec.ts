import { fc } from '../../../support/properties.js';
import type { Graph } from '../../../../lib/engine/graph/index.js';
import { program, write, type Program } from '../walk/programs.js';
import { WalkedRun } from '../walk/walked-run.js';
import { compile, dry, wayOf } from './dry-runs.js';

/** The same program, all of whose ways depend on what its first stage gives. */
function askingStage(parts: Program): { graph: Graph; input: Readonly<Record<string, unknown>> } {
  const { graph, input } = write(parts);
  const { start, nodes, edges } = JSON.parse(
    JSON.stringify(graph, (_key, value: unknown) =>
      typeof value === 'string' && value.startsWith('input.') ? value.replace('input.', 'output("probe").') : value,
    ),
  ) as Graph;
  const probe = { id: 'probe', type: 'work' } as Graph['nodes'][number];
  return {
    graph: { ...graph, start: 'probe', nodes: [...nodes, probe], edges: [...edges, { from: 'probe', to: start! }] },
    input,
  };
}

/** Where a run has been once one worker has done all of it, oldest first; what was cancelled never came to an end. */
function wayTaken(run: WalkedRun, outputs: Readonly<Record<string, unknown>>): string[] {
  while (run.end === null) {
    const [first] = run.pending;
    if (!first) throw new Error(`Stuck: ${run.statuses().join(', ')}`);
    run.complete([first], outputs[first.node] ?? null);
  }
  return [...run.stageRuns]
    .sort((a, b) => a.ordinal - b.ordinal)
    .filter(({ status }) => status !== 'CANCELLED')
    .map(({ node, visit, outcome, stage }) => {
      const usual = stage === 'work' ? 'done' : '-';
      return `${node}${visit > 1 ? `#${visit}` : ''} ${outcome ?? usual}`;
    });
}

describe('dry runs of random graphs', () => {
  it('RUN-7: with what the stages give, the path is the one that the run takes', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (parts) => {
        const { graph, input } = write(parts);
        const compiled = await compile(graph);
        const told = await dry(compiled, { input });
        expect(wayOf(told)).toEqual(wayTaken(new WalkedRun(compiled, input), {}));
        expect(told).toMatchObject({
          ends: 'completed',
          outcome: 'through',
          output: { outcome: 'through' },
          problems: [],
        });
        expect(told.path.some(({ assumed }) => assumed)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it('RUN-7: the same where every way depends on what a stage gives', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (parts) => {
        const { graph, input } = askingStage(parts);
        const compiled = await compile(graph);
        const outputs = { probe: input };
        const told = await dry(compiled, { outputs });
        expect(wayOf(told)).toEqual(wayTaken(new WalkedRun(compiled, {}), outputs));
        expect(told).toMatchObject({ ends: 'completed', problems: [] });
      }),
      { numRuns: 100 },
    );
  });

  it('RUN-7: where that is not known it ends all the same, and says what it assumed', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (parts) => {
        const { graph } = askingStage(parts);
        const told = await dry(await compile(graph));
        expect(told).toMatchObject({ ends: 'completed', problems: [] });
        const asks = (type: string): boolean => type !== 'work' && type !== 'end';
        // A parallel node that takes all its branches asks nothing.
        const asked = told.path.find(({ type }) => asks(type) && type !== 'parallel');
        if (asked) {
          expect(asked.unknown!.join()).toContain('what probe gives is not known');
          expect(told.path.at(-1)).toMatchObject({ type: 'end', assumed: true });
        }
      }),
      { numRuns: 100 },
    );
  });
});
