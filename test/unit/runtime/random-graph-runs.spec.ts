import { fc } from '../../support/properties.js';
import { definitionKey } from '../../../lib/engine/definition/index.js';
import { validateGraph } from '../../../lib/engine/graph/index.js';
import { compileRetryPolicy, DEFAULT_RETRY_POLICY } from '../../../lib/engine/retry/index.js';
import { graphDefinition } from '../../../lib/engine/walk/index.js';
import { program, write, type Written } from '../engine/walk/programs.js';
import type { TestStage, TestWorkflow } from './support/pipeline.js';
import { TestEngine } from './support/test-engine.js';

const defaults = { retry: DEFAULT_RETRY_POLICY, maxAttemptsCap: 10, maxStageRuns: 100_000, startsPerMinute: null };
const AT_ONCE = compileRetryPolicy({ maxAttempts: 2, backoff: 0, jitter: 0 }, 'work');

async function flowOf({ graph }: Written, work: TestStage): Promise<TestWorkflow> {
  const validation = await validateGraph(graph, { types: { work: { retry: AT_ONCE } }, defaults });
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems, null, 2));
  const compiled = graphDefinition(validation.graph, 1, { maxOutputBytes: 65_536, maxLoopIterations: 1_000 });
  const definition = { compiled, inputSchema: null, graph: validation.graph };
  return { compiled, key: definitionKey(compiled), definition, stages: new Map([['work', work]]) };
}

it('GRAPH-4: random graphs run to their ends on a store, whatever fails once, sleeps or is escalated; nothing is left open', async () => {
  await fc.assert(
    fc.asyncProperty(program, fc.infiniteStream(fc.nat({ max: 9 })), async (parts, choices) => {
      const written = write(parts);
      const did = new Map<string, number>();
      const work: TestStage = {
        key: 'work',
        execute: async ({ stage, step, attempt }) => {
          const choice = await step.run('choice', () => choices.next().value as number);
          if (choice === 0) await step.sleep('long', '3h');
          if (choice === 1 && attempt === 1) throw new Error('once');
          did.set(stage.key, (did.get(stage.key) ?? 0) + 1);
          return choice;
        },
      };
      const flow = await flowOf(written, work);
      const engine = new TestEngine([flow]);
      try {
        const runId = await engine.start(flow, written.input);
        await engine.drain();
        // As long as something sleeps or is to be escalated, time passes.
        for (let hours = 0; hours < 500; hours += 1) {
          if ((await engine.history(runId)).run.status !== 'RUNNING') break;
          await engine.travel(3_600_000);
        }
        const { run, stageRuns } = await engine.history(runId);
        expect([run.status, run.output]).toEqual(['COMPLETED', '{"outcome":"through"}']);
        expect(stageRuns.filter(({ finishedAt }) => finishedAt === null)).toEqual([]);
        expect(await engine.jobCount(runId)).toBe(0);
        // Where no edge was taken by an escalation, all that had to be done was done, as often as it had to be.
        if (written.edges.size === 0)
          for (const [node, times] of written.work) expect([node, did.get(node)]).toEqual([node, times]);
      } finally {
        await engine.close();
      }
    }),
    { numRuns: 60 },
  );
});
