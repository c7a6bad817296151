import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import { runFailure } from '../state/enter-node.js';
import type { JsonText } from '../state/rows.js';
import type { GraphVisits } from '../walk/index.js';
import type { DryFailure, DryGiven, DryHost } from './dry-given.js';
import type { DryAnswer, DryValues } from './dry-values.js';

/** Where a dry run is. */
export interface DryPlace {
  readonly graph: CompiledGraph;
  readonly node: CompiledGraphNode;
  readonly visits: GraphVisits;
  readonly values: DryValues;
  readonly given: DryGiven;
  readonly host: DryHost;
}

/** What a node would do, and come to. */
export interface Look {
  readonly would: string;
  /** Null: the branches of a parallel node begin, or the run ends with a failure. */
  readonly outcome: string | null;
  readonly output: JsonText;
  /** Whether the output is that, and not only taken for it. */
  readonly outputKnown: boolean;
  readonly given?: unknown;
  readonly unknown?: readonly string[];
  /** Another way was as possible as this one. */
  readonly assumes?: boolean;
  readonly skipped?: boolean;
  readonly failure?: DryFailure;
}

/** The run would fail here. */
export function failing(would: string, failure: DryFailure, of: Pick<Look, 'given' | 'unknown'> = {}): Look {
  return { would, outcome: null, output: 'null', outputKnown: true, ...of, failure };
}

/** An expression that gives nothing fails its node. */
export function expressionFailed({ node }: DryPlace, problem: string): Look {
  const { code, message } = runFailure('EXPRESSION_FAILED', { node: node.id, message: problem }, node.id);
  return failing(`Fails: ${problem}.`, { code, message });
}

/** What is known of an output by what the caller said of it. */
export function outputOf({ node, given }: DryPlace): { readonly output: JsonText; readonly outputKnown: boolean } {
  if (!given.outputs.has(node.id)) return { output: 'null', outputKnown: false };
  return { output: JSON.stringify(given.outputs.get(node.id) ?? null), outputKnown: true };
}

/** How a node ends of which the graph alone does not say it: as the caller said, or as it usually does. */
export function wayOf(
  { node, given }: DryPlace,
  usual: string,
  possible: readonly string[],
): { readonly outcome: string; readonly unknown: readonly string[]; readonly assumes: boolean } {
  const said = given.outcomes.get(node.id);
  if (said !== undefined) return { outcome: said, unknown: [], assumes: false };
  if (possible.length < 2) return { outcome: usual, unknown: [], assumes: false };
  const ways = possible.map((one) => `"${one}" leads to ${node.edges.get(one) ?? 'a failure'}`).join(', ');
  return { outcome: usual, unknown: [`how it ends: ${ways}; "${usual}" is assumed`], assumes: true };
}

/** The expression at a place of the node's config. */
export function evaluateAt({ node, values }: DryPlace, place: string): DryAnswer {
  return values.evaluate(node.expressions.get(place)!);
}
