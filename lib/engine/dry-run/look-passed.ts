import { DONE } from '../graph/index.js';
import { runFailure } from '../state/enter-node.js';
import { expressionsOf, isEntered, passNode, TURN } from '../walk/index.js';
import { expressionFailed, evaluateAt, failing, type DryPlace, type Look } from './look.js';
import { onward, passedSentence } from './passed-sentence.js';
import { named } from './shown.js';

/** What a node comes to whose way the graph itself says, all that it reads being known. */
function passed(place: DryPlace): Look {
  const { graph, node, visits, values, given } = place;
  const result = passNode(graph, node, visits, values.of(expressionsOf(node)), given.limits);
  switch (result.kind) {
    case 'failed':
      return expressionFailed(place, result.problem);
    case 'too-many-turns': {
      const { turns: actual, most: value } = result;
      const where = `Loop ${node.id} of ${graph.id}`;
      const params = { where, actual, limit: 'maxLoopIterations', value };
      return failing(
        `Fails: it would turn more than ${value} times.`,
        runFailure('LOOP_LIMIT_EXCEEDED', params, node.id),
      );
    }
    default: {
      const { output } = result;
      const outcome = result.kind === 'forked' ? null : result.outcome;
      return { would: passedSentence(node, outcome, output), outcome, output, outputKnown: true };
    }
  }
}

export function lookAtCondition(place: DryPlace): Look {
  const answer = evaluateAt(place, 'if');
  if (answer.kind !== 'unknown') return passed(place);
  const asks = `Asks whether ${place.node.expressions.get('if')!.text}`;
  return assumed(place, asks, answer.why, ['true', 'false'], (outcome) => outcome);
}

export function lookAtBranch(place: DryPlace): Look {
  const { node } = place;
  const { cases } = node.config as { readonly cases: readonly { readonly outcome: string }[] };
  for (const [at, { outcome }] of cases.entries()) {
    const answer = evaluateAt(place, `cases[${at}].if`);
    if (answer.kind === 'unknown') {
      const possible = [...cases.slice(at).map((one) => one.outcome), 'else'];
      return assumed(place, 'Asks which case holds', answer.why, possible, (one) => JSON.stringify(one));
    }
    if (answer.kind === 'failed') return expressionFailed(place, `case "${outcome}": ${answer.problem}`);
    if (answer.value === true) {
      const output = JSON.stringify(outcome);
      return { would: passedSentence(node, outcome, output), outcome, output, outputKnown: true };
    }
  }
  return { would: passedSentence(node, 'else', '"else"'), outcome: 'else', output: '"else"', outputKnown: true };
}

/** The way is not known: the one that was named, else the first. */
function assumed(
  { node, given }: DryPlace,
  asks: string,
  why: readonly string[],
  possible: readonly string[],
  output: (outcome: string) => string,
): Look {
  const said = given.outcomes.get(node.id);
  const outcome = said ?? possible[0]!;
  const ways = possible.map((one) => `"${one}" leads to ${node.edges.get(one)}`);
  const taken = said === undefined ? 'is assumed' : 'was said';
  return {
    would: `${asks}, which is not known: "${outcome}" ${taken}, ${onward(node, outcome)}.`,
    outcome,
    output: output(outcome),
    outputKnown: said !== undefined,
    unknown: [...why, `where it goes on: ${named(ways, 'or')}`],
    assumes: said === undefined,
  };
}

/** What stands for a turn of a loop of which nobody knows how often it turns. */
const ASSUMED_TURN = '{"index":0,"assumed":true}';

/** Whether a loop has turned on an assumption, and now is done. */
export const hasAssumedTurn = ({ node, visits }: Pick<DryPlace, 'node' | 'visits'>): boolean =>
  node.type === 'loop' && visits.last(node.id)?.output === ASSUMED_TURN;

/** A loop over what is not known turns once, so that its body is seen. */
export function lookAtLoop(place: DryPlace): Look {
  const { graph, node, visits, values, given } = place;
  const entered = isEntered(graph, node, visits);
  const { while: holds } = node.config as { readonly while?: string };
  const done = { outcome: DONE, output: '{"count":1}', outputKnown: false } as const;
  if (!entered && hasAssumedTurn(place))
    return { would: `Has turned once, as was assumed, ${onward(node, DONE)}.`, ...done, assumes: true };
  // What a loop turns over is read when it is entered, and kept; a `while` is asked at each turn.
  const why = entered || holds !== undefined ? values.unknownIn([...node.expressions.values()]) : [];
  if (why.length === 0) return passed(place);
  const said = given.outcomes.get(node.id);
  const unknown = [...why, `how often it turns: after the last turn it goes on to ${node.edges.get(DONE)}`];
  const assumes = said === undefined;
  if (said === DONE) return { would: `Does not turn, as was said, ${onward(node, DONE)}.`, ...done, unknown };
  const would = `Turns, nobody knows how often: once is assumed, ${onward(node, TURN)}.`;
  return { would, outcome: TURN, output: ASSUMED_TURN, outputKnown: false, unknown, assumes };
}

export function lookAtParallel(place: DryPlace): Look {
  const { node, values } = place;
  const { branches } = node.config as { readonly branches: readonly { readonly outcome: string }[] };
  const unknown = values.unknownIn([...node.expressions.values()]);
  if (unknown.length === 0) return passed(place);
  const taken: string[] = [];
  const open: string[] = [];
  for (const [at, { outcome }] of branches.entries()) {
    const when = node.expressions.get(`branches[${at}].when`);
    const answer = when ? values.evaluate(when) : { kind: 'value' as const, value: true };
    if (answer.kind === 'failed') return expressionFailed(place, `branch "${outcome}": ${answer.problem}`);
    if (answer.kind === 'unknown') open.push(outcome);
    if (answer.kind === 'unknown' || answer.value === true) taken.push(outcome);
  }
  const output = JSON.stringify({ branches: taken });
  return {
    would: passedSentence(node, null, output),
    outcome: null,
    output,
    outputKnown: false,
    unknown: [...unknown, `whether ${named(open)} ${open.length === 1 ? 'begins' : 'begin'}: it is assumed`],
    assumes: true,
  };
}

export function lookAtEnd(place: DryPlace): Look {
  const { node, values } = place;
  const { outcome = DONE } = (node.config ?? {}) as { readonly outcome?: string };
  const mapping = node.mappings.get('output');
  const unknown = mapping ? values.map(mapping).unknown : [];
  if (unknown.length === 0) return passed(place);
  return { would: `Ends the run with "${outcome}".`, outcome, output: 'null', outputKnown: false, unknown };
}
