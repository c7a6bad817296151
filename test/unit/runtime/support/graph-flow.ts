import { definitionKey } from '../../../../lib/engine/definition/index.js';
import { validateGraph } from '../../../../lib/engine/graph/index.js';
import { compileRetryPolicy } from '../../../../lib/engine/retry/index.js';
import { graphDefinition } from '../../../../lib/engine/walk/index.js';
import type { TestStage, TestWorkflow } from './pipeline.js';

export type GraphNode = Readonly<Record<string, unknown>> & { readonly id: string };
export type GraphEdge = readonly [from: string, to: string, outcome?: string];

/** A graph as a workflow of tests; the keys of the stages are their types. */
export async function graphFlow(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  stages: readonly TestStage[] = [],
  more: { readonly id?: string; readonly settings?: object } = {},
): Promise<TestWorkflow> {
  const id = more.id ?? 'flow';
  const given = { id, nodes, edges: edges.map(([from, to, outcome]) => ({ from, to, outcome })), ...more };
  const types = Object.fromEntries(
    stages.map(({ key, outcomes, retry, timeoutMs = null, cancel }) => [
      key,
      {
        outcomes: outcomes ?? ['done'],
        retry: compileRetryPolicy(retry ?? { maxAttempts: 3, backoff: 0, jitter: 0 }, key),
        timeoutMs,
        hasCancelHook: cancel !== undefined,
      },
    ]),
  );
  const validation = await validateGraph(JSON.parse(JSON.stringify(given)), { types });
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems, null, 2));
  const { graph } = validation;
  const compiled = graphDefinition(graph, 1, { maxOutputBytes: 65_536, maxLoopIterations: 1_000 });
  return {
    compiled,
    key: definitionKey(compiled),
    definition: { compiled, inputSchema: null, graph },
    stages: new Map(stages.map((stage) => [stage.key, stage])),
  };
}

export const end = (id = 'end', config: object = {}): GraphNode => ({ id, type: 'end', config });
