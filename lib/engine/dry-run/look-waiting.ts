import { DONE } from '../graph/index.js';
import { formatDuration, parseDurationMs, type Duration } from '../time/index.js';
import { evaluateAt, expressionFailed, outputOf, wayOf, type DryPlace, type Look } from './look.js';
import { onward } from './passed-sentence.js';

type WaitConfig =
  | { readonly timer: Duration }
  | { readonly until: string }
  | { readonly event: { readonly where?: string; readonly subject?: boolean }; readonly timeout?: Duration }
  | { readonly condition: string; readonly timeout?: Duration };

const lasting = (duration: Duration): string => formatDuration(parseDurationMs(duration, 'a duration'));

/** `wait`: nothing is waited for, and time stands still. */
export function lookAtWait(place: DryPlace): Look {
  const config = place.node.config as WaitConfig;
  if ('timer' in config)
    return { would: `Waits ${lasting(config.timer)}, ${onward(place.node, DONE)}.`, outcome: DONE, ...NOTHING };
  if ('until' in config) return lookAtUntil(place);
  if ('event' in config) return lookAtEvent(place, config);
  return lookAtCondition(place, config);
}

const NOTHING = { output: 'null', outputKnown: true } as const;

function lookAtUntil(place: DryPlace): Look {
  const answer = evaluateAt(place, 'until');
  if (answer.kind === 'failed') return expressionFailed(place, answer.problem);
  const until = answer.kind === 'value' ? String(answer.value) : 'an instant that is not known';
  return {
    would: `Waits until ${until}, ${onward(place.node, DONE)}.`,
    outcome: DONE,
    ...NOTHING,
    ...(answer.kind === 'unknown' && { unknown: answer.why }),
  };
}

function lookAtEvent(place: DryPlace, config: Extract<WaitConfig, { event: unknown }>): Look {
  const { node, values } = place;
  const answer = evaluateAt(place, 'event.key');
  if (answer.kind === 'failed') return expressionFailed(place, answer.problem);
  const key = answer.kind === 'value' ? `"${String(answer.value)}"` : 'whose key is not known';
  const where = config.event.where === undefined ? '' : ` with ${config.event.where}`;
  const name = values.world.subjectName;
  const about = config.event.subject === true && name ? ` about ${name.type} ${name.id}` : '';
  const unknown = answer.kind === 'unknown' ? answer.why : [];
  const said = outputOf(place);
  return {
    ...timed(place, `Waits for the event ${key}${about}${where}`, config.timeout, [
      ...unknown,
      ...(said.outputKnown ? [] : ['what the event says: nobody has told of it']),
    ]),
    ...said,
    ...(node.edges.has('timeout') && place.given.outcomes.get(node.id) === 'timeout' && NOTHING),
  };
}

function lookAtCondition(place: DryPlace, config: Extract<WaitConfig, { condition: unknown }>): Look {
  const answer = evaluateAt(place, 'condition');
  if (answer.kind === 'failed') return expressionFailed(place, answer.problem);
  const said = outputOf(place);
  const output = said.outputKnown ? said : { output: 'true', outputKnown: true };
  const waits = `Waits until ${config.condition}`;
  if (answer.kind === 'value' && answer.value === true && !place.given.outcomes.has(place.node.id)) {
    return { would: `${waits}: it holds already, ${onward(place.node, DONE)}.`, outcome: DONE, ...output };
  }
  const why = answer.kind === 'unknown' ? answer.why : ['when it holds: it does not now'];
  return { ...timed(place, waits, config.timeout, why), ...output };
}

function timed(
  place: DryPlace,
  waits: string,
  timeout: Duration | undefined,
  unknown: readonly string[],
): Omit<Look, 'output' | 'outputKnown'> {
  const possible = place.node.edges.has('timeout') ? [DONE, 'timeout'] : [DONE];
  const way = wayOf(place, DONE, possible);
  const limit = timeout === undefined ? '' : `, for ${lasting(timeout)} at most`;
  return {
    would: `${waits}${limit}, ${onward(place.node, way.outcome)}.`,
    outcome: way.outcome,
    unknown: [...way.unknown, ...unknown],
    assumes: way.assumes,
  };
}
