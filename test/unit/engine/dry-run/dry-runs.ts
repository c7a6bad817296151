import {
  dryRunGraph,
  type DryGiven,
  type DryHost,
  type DryRun,
  type DryStage,
} from '../../../../lib/engine/dry-run/index.js';
import {
  validateGraph,
  type CompiledGraph,
  type Graph,
  type GraphStageType,
} from '../../../../lib/engine/graph/index.js';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/engine/retry/index.js';

export async function compile(
  graph: unknown,
  types: Readonly<Record<string, GraphStageType>> = { work: {} },
): Promise<CompiledGraph> {
  const defaults = { retry: DEFAULT_RETRY_POLICY, maxAttemptsCap: 10, maxStageRuns: 100_000, startsPerMinute: null };
  const validation = await validateGraph(graph as Graph, { types, defaults });
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems, null, 2));
  return validation.graph;
}

export type Given = Partial<Pick<DryGiven, 'limits'>> & {
  readonly input?: unknown;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly outcomes?: Readonly<Record<string, string>>;
  readonly world?: Partial<DryGiven['world']>;
  readonly stages?: Readonly<Record<string, Partial<DryStage>>>;
  readonly approvers?: Readonly<Record<string, unknown>>;
};

export function givenOf({ input = {}, world, outputs = {}, outcomes = {}, limits }: Given = {}): DryGiven {
  const nobody = {
    subjectName: null,
    subject: null,
    refused: null,
    unreadable: null,
    owner: null,
    actor: null,
    requester: null,
  };
  return {
    input: JSON.stringify(input),
    world: { ...nobody, now: new Date('2026-03-01T10:00:00Z'), ...world },
    outputs: new Map(Object.entries(outputs)),
    outcomes: new Map(Object.entries(outcomes)),
    limits: { maxOutputBytes: 65_536, maxLoopIterations: 1_000, maxSteps: 100_000, ...limits },
  };
}

export function hostOf({ stages = {}, approvers = {} }: Given = {}): DryHost {
  const plain: DryStage = { ability: null, outcomes: null, accept: (value) => Promise.resolve({ value }) };
  return {
    stage: (type) => ({ ...plain, ...stages[type] }),
    approvers: (name) =>
      Promise.resolve(name in approvers ? { given: approvers[name] } : { why: 'there is no such resolver' }),
  };
}

export async function dry(graph: CompiledGraph, given: Given = {}): Promise<DryRun> {
  return dryRunGraph(graph, givenOf(given), hostOf(given));
}

/** Where a run would go: `node`, of later visits `node#2`, and what it ends with. */
export const wayOf = ({ path }: DryRun): string[] =>
  path.map(({ node, visit, outcome }) => `${node}${visit > 1 ? `#${visit}` : ''} ${outcome ?? '-'}`);
