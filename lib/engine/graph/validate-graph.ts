import { digest } from '../codec/digest.js';
import { canonicalJson } from '../codec/canonical-json.js';
import { type DefinitionSettings, foldIdentifier } from '../definition/index.js';
import { checkEdges } from './check-edges.js';
import { checkReach, checkReads } from './check-ways.js';
import { checkNode, type CheckedNode } from './checked-node.js';
import { checkGraphSettings } from './checked-settings.js';
import { checkTriggers } from './checked-trigger.js';
import type { CompiledGraph, CompiledTrigger } from './compiled-graph.js';
import { freezeDeep } from './freeze-deep.js';
import { checkBodies, findBodies, innermostBodies, type Body } from './graph-bodies.js';
import type { GraphCatalogue } from './graph-catalogue.js';
import { GraphCheck, readGraphRetry } from './graph-check.js';
import { checkCycles } from './graph-cycles.js';
import { GraphExpressions } from './graph-expressions.js';
import { GraphFlow } from './graph-flow.js';
import { DEFAULT_GRAPH_LIMITS, type GraphLimits } from './graph-limits.js';
import { type GraphProblem, GraphProblems } from './graph-problem.js';
import { envelopeSchema, type Graph, graphEdge, type GraphEdge, graphSettings } from './graph-schema.js';
import { inputSchema, inputShapeOf } from './input-schema.js';
import { SKIPPED } from './outcome.js';
import { outputTypesOf } from './output-types.js';
import { readGraph } from './read-graph.js';
import { parseWith } from './schema-issues.js';

export type GraphValidation =
  | { readonly ok: true; readonly graph: CompiledGraph }
  | { readonly ok: false; readonly problems: readonly GraphProblem[] };

/**
 * Checks all of a graph: every fault at once, in the order of the graph.
 *
 * Never throws and never rejects, whatever it is given; how long it takes is bounded by the limits, which are looked at first.
 * Asynchronous because the config schemas of stages may be.
 *
 * @param catalogue what there is in the app
 */
export async function validateGraph(given: unknown, catalogue: GraphCatalogue): Promise<GraphValidation> {
  const limits: GraphLimits = { ...DEFAULT_GRAPH_LIMITS, ...catalogue.limits };
  const problems = new GraphProblems();
  const read = readGraph(given, limits, problems);
  if (problems.any) return { ok: false, problems: problems.list(given) };
  const graph = await checkGraph(read, catalogue, limits, problems);
  return graph === undefined ? { ok: false, problems: problems.list(read) } : { ok: true, graph };
}

async function checkGraph(
  read: unknown,
  catalogue: GraphCatalogue,
  limits: GraphLimits,
  problems: GraphProblems,
): Promise<CompiledGraph | undefined> {
  parseWith(envelopeSchema, read, { path: [] }, problems);
  // What is of the right kind is looked at, also where something beside it is not.
  const parts = partsOf(read);
  const types = { input: parts.shape, outputTypes: outputTypesOf(parts.nodes, catalogue, parts.shape) };
  const expressions = new GraphExpressions(catalogue, limits, types, problems);
  const retry = readGraphRetry(parts.settings.retry, ['settings', 'retry'], problems);
  const check = new GraphCheck(catalogue, limits, expressions, problems, retry);

  const triggered = { id: parts.id, onBehalf: parts.settings.actor === 'on_behalf_of' };
  const triggers = checkTriggers(parts.triggers, triggered, check);
  const nodes: CheckedNode[] = [];
  for (const [at, node] of parts.nodes.entries()) {
    const checked = await checkNode(node, at, check);
    if (checked !== undefined) nodes.push(checked);
  }
  checkIds(nodes, problems);

  const flow = new GraphFlow(nodes, parts.edges, problems);
  const start = flow.startOf(parts.start, problems);
  const bodies = findBodies(flow);
  checkEdges(flow, problems);
  checkReach(flow, start, problems);
  checkBodies(bodies, flow, start, problems);
  checkCycles(flow, bodies, problems);
  checkReads(expressions.reads, flow, bodies, problems);
  const settings = checkGraphSettings(parts.settings, check);
  if (problems.any || start === undefined) return undefined;
  return compile(read as Graph, { flow, start, bodies, triggers, settings });
}

interface GraphParts {
  readonly id: unknown;
  readonly start: unknown;
  readonly settings: NonNullable<Graph['settings']>;
  readonly shape: ReturnType<typeof inputShapeOf>;
  readonly triggers: readonly unknown[];
  readonly nodes: readonly unknown[];
  readonly edges: readonly { readonly at: number; readonly edge: GraphEdge }[];
}

function partsOf(read: unknown): GraphParts {
  const raw = (typeof read === 'object' && read !== null ? read : {}) as Record<string, unknown>;
  const input = inputSchema.safeParse(raw.input);
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  return {
    id: raw.id,
    start: raw.start,
    settings: graphSettings.safeParse(raw.settings).data ?? {},
    shape: input.success ? inputShapeOf(input.data) : undefined,
    triggers: list(raw.triggers).slice(0, 50),
    nodes: list(raw.nodes),
    edges: list(raw.edges).flatMap((given, at) => {
      const edge = graphEdge.safeParse(given);
      return edge.success ? [{ at, edge: edge.data }] : [];
    }),
  };
}

/** Ids that read alike are taken for one: nobody tells "Review" from "review" in a log. */
function checkIds(nodes: readonly CheckedNode[], problems: GraphProblems): void {
  const ids = new Map<string, string>();
  for (const { id, at } of nodes) {
    const first = ids.get(foldIdentifier(id));
    if (first === undefined) ids.set(foldIdentifier(id), `node ${id}`);
    else problems.add('DUPLICATE_ID', ['nodes', at, 'id'], { what: 'node', id, first });
  }
}

interface Checked {
  readonly flow: GraphFlow;
  readonly start: CheckedNode;
  readonly bodies: readonly Body[];
  readonly triggers: readonly CompiledTrigger[];
  readonly settings: DefinitionSettings;
}

function compile(source: Graph, { flow, start, bodies, triggers, settings }: Checked): CompiledGraph {
  const innermost = innermostBodies(bodies);
  const nodes = flow.nodes.map((node) => {
    const body = innermost.get(node);
    const edges = new Map(flow.out(node).map(({ outcome, to }) => [outcome, to.id]));
    return Object.freeze({
      ...node.compiled,
      edges,
      skipOutcome: edges.has(SKIPPED) ? SKIPPED : (node.outcomes?.find(({ main }) => main)?.name ?? null),
      body: body === undefined ? null : Object.freeze({ block: body.block.id, outcome: body.edge.outcome }),
    });
  });
  return Object.freeze({
    id: source.id,
    fingerprint: fingerprintOf(source),
    start: start.id,
    nodes: Object.freeze(nodes),
    settings: Object.freeze(settings),
    triggers: Object.freeze(triggers),
    source: freezeDeep(source),
  });
}

/** Names and descriptions are for people: changing them changes nothing for a run. */
function fingerprintOf({ name: _name, description: _description, nodes, ...rest }: Graph): string {
  const bare = nodes.map(({ name: _label, ...node }) => node);
  return digest([canonicalJson({ ...rest, nodes: bare })])
    .toString('hex')
    .slice(0, 16);
}
