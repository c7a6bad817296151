import { decodeJson } from '../../engine/codec/index.js';
import type { ClaimedJob, ClaimedRun } from '../../engine/ports/index.js';
import { decodeOutput, nodeOutput } from '../../engine/state/node-output.js';
import type { AtNode } from './node-attempt.js';
import { parseInput } from './parse-payload.js';
import type { ServedStage } from './served-stages.js';

/**
 * What a stage is given: the output of the node before it (undefined when that was skipped), or the run's input, parsed
 * by the run's schema, at the first node; then parsed by its own input schema. Each boundary parses once (DEF-5).
 *
 * Of a graph it is what the node's mapping made.
 *
 * @throws InvalidInputError
 */
export async function readInput({ run, earlier }: ClaimedJob, served: ServedStage, atNode?: AtNode): Promise<unknown> {
  const { compiled, definition, node, stage, type } = served;
  if (atNode) return parseInput(type.inputSchema, await atNode.input(), `stage ${stage.key}`);
  const before = node.index === 0 ? undefined : compiled.nodes[node.index - 1]!;
  const given = before
    ? decodeOutput(nodeOutput(before, earlier))
    : await parseInput(definition.inputSchema, inputOf(run), compiled.id);
  return parseInput(type.inputSchema, given, `stage ${stage.key}`);
}

/** What the run was started with, decoded anew for each caller. */
export const inputOf = ({ id, input }: ClaimedRun): unknown => decodeJson(input, `The input of run ${id}`);
