import { InvalidOptionsError } from '../../errors/index.js';
import { decodeJson } from '../codec/json.js';
import { DONE } from '../graph/index.js';
import { evaluateAt, expressionFailed, failing, outputOf, wayOf, type DryPlace, type Look } from './look.js';
import { onward } from './passed-sentence.js';
import { shown } from './shown.js';

const subjectOf = ({ values }: DryPlace): string => {
  const { subjectName } = values.world;
  return subjectName ? `${subjectName.type} ${subjectName.id}` : 'nothing';
};

/** What would change a subject fails where there is none. */
function aboutNothing({ node, values }: DryPlace): Look | undefined {
  if (values.world.subjectName !== null) return undefined;
  const message = `A run is about nothing: start it with { subject: { type, id } }`;
  const { code, message: told } = new InvalidOptionsError({
    where: `Node ${node.id}`,
    problems: [{ path: 'subject', message }],
  });
  return failing('Fails: the run is about nothing.', { code, message: told });
}

export function lookAtSetField(place: DryPlace): Look {
  const refused = aboutNothing(place);
  if (refused) return refused;
  const { node, values } = place;
  const { field } = node.config as { readonly field: string };
  const { value, unknown, problem } = values.map(node.mappings.get('value')!);
  if (problem !== null) return expressionFailed(place, problem);
  const known = unknown.length === 0;
  return {
    would: `Sets ${field} of ${subjectOf(place)} to ${known ? shown(value) : 'what is not known'}, ${onward(place.node, DONE)}.`,
    outcome: DONE,
    output: JSON.stringify({ field, value: value ?? null }),
    outputKnown: known,
    unknown,
  };
}

export function lookAtTransition(place: DryPlace): Look {
  const refused = aboutNothing(place);
  if (refused) return refused;
  const { node } = place;
  const { to, lifecycle } = node.config as { readonly to: string; readonly lifecycle?: string };
  const possible = node.edges.has('denied') ? [DONE, 'denied'] : [DONE];
  const way = wayOf(place, DONE, possible);
  const reason = node.expressions.has('reason') ? evaluateAt(place, 'reason') : null;
  if (reason?.kind === 'failed') return expressionFailed(place, reason.problem);
  const unsaid = reason?.kind === 'unknown' ? reason.why.map((why) => `its reason, ${why}`) : [];
  const by = lifecycle === undefined ? '' : `, in ${lifecycle},`;
  return {
    would: `Moves ${subjectOf(place)}${by} to ${to}, ${onward(place.node, way.outcome)}.`,
    outcome: way.outcome,
    ...outputOf(place),
    unknown: [...way.unknown, ...unsaid, `whether its lifecycle lets it go to ${to}`],
    assumes: way.assumes,
  };
}

export function lookAtStartWorkflow(place: DryPlace): Look {
  const { node, values, given } = place;
  const {
    workflow,
    version,
    wait = true,
  } = node.config as {
    readonly workflow: string;
    readonly version?: number;
    readonly wait?: boolean;
  };
  const mapped = node.input
    ? values.map(node.input)
    : { value: decodeJson(given.input, 'The input of a dry run'), unknown: [], problem: null };
  if (mapped.problem !== null) return expressionFailed(place, mapped.problem);
  const way = wayOf(place, DONE, wait && node.edges.has('failed') ? [DONE, 'failed'] : [DONE]);
  const output = outputOf(place);
  const which = version === undefined ? workflow : `${workflow}, version ${version},`;
  const unknown = [...way.unknown, ...mapped.unknown.map((why) => `its input, ${why}`)];
  if (!output.outputKnown) unknown.push(wait ? `what ${workflow} comes to` : 'the id of its run');
  return {
    would: `Starts ${which}${wait ? ' and waits for its end' : ''}, ${onward(place.node, way.outcome)}.`,
    outcome: way.outcome,
    ...output,
    ...(mapped.value !== undefined && { given: mapped.value }),
    unknown,
    assumes: way.assumes,
  };
}

export function lookAtEmitEvent(place: DryPlace): Look {
  const { node, values } = place;
  const { subject = false } = node.config as { readonly subject?: boolean };
  const answer = evaluateAt(place, 'key');
  if (answer.kind === 'failed') return expressionFailed(place, answer.problem);
  const payload = node.input ? values.map(node.input) : { value: undefined, unknown: [], problem: null };
  if (payload.problem !== null) return expressionFailed(place, payload.problem);
  const key = answer.kind === 'value' ? answer.value : null;
  return {
    would: `Tells of the event ${key === null ? 'whose key is not known' : shown(key)}${subject ? ` about ${subjectOf(place)}` : ''}, ${onward(place.node, DONE)}.`,
    outcome: DONE,
    output: JSON.stringify({ key }),
    outputKnown: key !== null,
    ...(payload.value !== undefined && { given: payload.value }),
    unknown: [...(answer.kind === 'unknown' ? answer.why : []), ...payload.unknown],
  };
}
