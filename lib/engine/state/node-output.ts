import { decodeJson } from '../codec/json.js';
import type { CompiledNode } from '../definition/compiled-definition.js';
import type { JsonText, StageRunState } from './rows.js';

type Settled = Pick<StageRunState, 'node' | 'key' | 'status' | 'output'>;

/**
 * The output of a node whose stages have all ended, as JSON text; undefined where a single stage was skipped.
 *
 * A parallel node's output is an object by stage key; skipped branches are absent (GRP-4). The texts are joined, never
 * parsed: what a stage stored is what the next one reads.
 */
export function nodeOutput(node: CompiledNode, stageRuns: readonly Settled[]): JsonText | undefined {
  const outputOf = (key: string): JsonText | undefined => {
    const stageRun = stageRuns.find((candidate) => candidate.node === node.key && candidate.key === key);
    return stageRun?.status === 'COMPLETED' ? (stageRun.output ?? 'null') : undefined;
  };
  if (!node.parallel) return outputOf(node.stages[0]!.key);
  const members = node.stages.flatMap(({ key }) => {
    const output = outputOf(key);
    return output === undefined ? [] : [`${JSON.stringify(key)}:${output}`];
  });
  return `{${members.join(',')}}`;
}

/** The value behind a node's output: undefined stays undefined. */
export function decodeOutput(output: JsonText | undefined): unknown {
  return output === undefined ? undefined : decodeJson(output);
}
