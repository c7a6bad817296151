import { decodeJson } from '../codec/json.js';
import { DONE, SKIPPED } from '../graph/index.js';
import { formatDuration } from '../time/index.js';
import { expressionFailed, failing, outputOf, wayOf, type DryPlace, type Look } from './look.js';
import { onward } from './passed-sentence.js';

/** A `@Stage` of the host's: what it is given can be told, what it does with it cannot. */
export async function lookAtStage(place: DryPlace): Promise<Look> {
  const { node, values, host, given } = place;
  const stage = host.stage(node.type);
  const mapped = node.input
    ? values.map(node.input)
    : { value: decodeJson(given.input, 'The input of a dry run'), unknown: [], problem: null };
  if (mapped.problem !== null) return expressionFailed(place, mapped.problem);
  const unknown: string[] = mapped.unknown.map((why) => `its input, ${why}`);
  let input = mapped.value;
  if (stage && unknown.length === 0) {
    const accepted = await stage.accept(input, node.id);
    if ('failure' in accepted)
      return failing('Fails: its input does not fit its schema.', accepted.failure, { given: input });
    input = accepted.value;
  } else if (unknown.length > 0) unknown.push('whether its input fits its schema');
  const declared = stage?.outcomes ?? [DONE];
  const possible = [...node.edges.keys()].filter((outcome) => declared.includes(outcome));
  const usual = possible.includes(DONE) ? DONE : (possible[0] ?? DONE);
  const way = wayOf(place, usual, possible);
  const output = outputOf(place);
  const asks = stage?.ability ? `, after "${stage.ability}" was allowed` : '';
  const limit = node.timeoutMs === null ? '' : `, within ${formatDuration(node.timeoutMs)}`;
  if (!output.outputKnown) unknown.push('what it gives: it was not run');
  const leads = way.outcome === SKIPPED ? 'and skips itself' : onward(place.node, way.outcome);
  return {
    would: `Runs the stage ${node.type}${asks}${limit}, ${leads}.`,
    outcome: way.outcome,
    ...output,
    ...(input !== undefined && { given: input }),
    unknown: [...way.unknown, ...unknown],
    assumes: way.assumes,
    skipped: way.outcome === SKIPPED,
  };
}
