import { fc } from '../../../support/properties.js';
import { validateGraph, type CompiledGraph, type Graph } from '../../../../lib/engine/graph/index.js';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/engine/retry/index.js';
import { program, write } from './programs.js';
import { WalkedRun } from './walked-run.js';

const defaults = { retry: DEFAULT_RETRY_POLICY, maxAttemptsCap: 10, maxStageRuns: 100_000, startsPerMinute: null };

async function compile(graph: Graph): Promise<CompiledGraph> {
  const validation = await validateGraph(graph, { types: { work: {} }, defaults });
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems, null, 2));
  return validation.graph;
}

describe('random graphs', () => {
  it('GRAPH-4: every one comes to its end, whatever order its work ends in and however it is grouped', async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.infiniteStream(fc.nat()), async (parts, choices) => {
        const { graph, input, work } = write(parts);
        const run = new WalkedRun(await compile(graph), input);
        const choose = (below: number): number => (choices.next().value as number) % below;
        for (let turns = 0; run.end === null; turns += 1) {
          const { pending } = run;
          if (pending.length === 0) throw new Error(`Stuck: ${run.statuses().join(', ')}`);
          if (turns > 10_000) throw new Error('It never ends.');
          const first = choose(pending.length);
          run.complete(pending.slice(first, first + 1 + choose(pending.length - first)));
        }
        expect(run.end).toEqual({ to: 'COMPLETED', output: '{"outcome":"through"}' });
        expect(run.open).toEqual([]);
        expect(run.events).toEqual(['run:started', 'run:completed']);
        for (const [node, times] of work) expect([node, run.worked.get(node)]).toEqual([node, times]);
        const sure = new Set(work.keys());
        const others = [...run.worked.keys()].filter((node) => !sure.has(node));
        const left = new Set(graph.nodes.map(({ id }) => id));
        expect(others.filter((node) => !left.has(node))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('RETRY-5: every one comes to its end, whatever fails in the calls in which its work ends, once it is tried again', async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.infiniteStream(fc.nat()), async (parts, choices) => {
        const { graph, input, work } = write(parts);
        const run = new WalkedRun(await compile(graph), input);
        const choose = (below: number): number => (choices.next().value as number) % below;
        for (let turns = 0; run.end?.to !== 'COMPLETED'; turns += 1) {
          if (run.end !== null) expect(run.retry()).toBeUndefined();
          else {
            const { pending } = run;
            if (pending.length === 0) throw new Error(`Stuck: ${run.statuses().join(', ')}`);
            const first = choose(pending.length);
            const ended = pending.slice(first, first + 1 + choose(pending.length - first));
            // Each fails a few times at the most.
            const failed = ended.filter(({ attempt }) => attempt < 3 && choose(4) === 0);
            run.complete(
              ended.filter((row) => !failed.includes(row)),
              null,
              undefined,
              failed,
            );
          }
          if (turns > 10_000) throw new Error('It never ends.');
        }
        expect(run.end).toEqual({ to: 'COMPLETED', output: '{"outcome":"through"}' });
        expect(run.open).toEqual([]);
        for (const [node, times] of work) expect([node, run.worked.get(node)]).toEqual([node, times]);
      }),
      { numRuns: 400 },
    );
  });

  it('ESC-1: every one comes to its end whatever escalates meanwhile, and nothing of a visit that has ended is left open', async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.infiniteStream(fc.nat()), async (parts, choices) => {
        const { graph, input, work, edges } = write(parts);
        const run = new WalkedRun(await compile(graph), input);
        const choose = (below: number): number => (choices.next().value as number) % below;
        for (let turns = 0; run.end === null; turns += 1) {
          const { open, pending } = run;
          if (pending.length === 0) throw new Error(`Stuck: ${run.statuses().join(', ')}`);
          if (turns > 10_000) throw new Error('It never ends.');
          const first = choose(open.length);
          run.finish(open.slice(first, first + 1 + choose(open.length - first)), edges);
          const visits = new Set(run.pending.map(({ node, visit }) => `${node} ${visit}`));
          for (const { key, node, visit } of run.escalations)
            expect([key, visits.has(`${node} ${visit}`)]).toEqual([key, true]);
        }
        expect(run.end).toEqual({ to: 'COMPLETED', output: '{"outcome":"through"}' });
        expect(run.open).toEqual([]);
        for (const [node, times] of work) expect([node, run.came(node)]).toEqual([node, times]);
      }),
      { numRuns: 400 },
    );
  });
});
