import { isSubject, SUBJECT_RULE } from '../codec/index.js';
import type { ExpressionValues } from '../expression/index.js';
import type { SubjectName } from '../ports/index.js';
import type { CompiledTrigger } from './compiled-graph.js';
import { evaluateMapping } from './compiled-mapping.js';

/** What a run is started with. */
export interface StartMade {
  readonly input: unknown;
  readonly subject: SubjectName | null;
  /** Null: the graph gives none. */
  readonly key: string | null;
}

export type ReceivedStart =
  { readonly ok: true; readonly start: StartMade } | { readonly ok: false; readonly problem: string };

/**
 * What a trigger makes of something that it received: the run's input (what was received, where it has no mapping), its subject (that of
 * the event), its key.
 */
export function receivedStart(
  { input, key, subjectId, trigger }: CompiledTrigger,
  values: ExpressionValues,
  received: unknown,
  subject: SubjectName | null,
): ReceivedStart {
  const made = input === null ? { ok: true as const, value: received } : evaluateMapping(input, values);
  if (!made.ok) return { ok: false, problem: `input: ${made.problem}` };
  const named = key?.evaluate(values);
  if (named?.ok === false) return { ok: false, problem: `key: ${named.problem}` };
  const about = subjectId?.evaluate(values);
  if (about?.ok === false) return { ok: false, problem: `subject.id: ${about.problem}` };
  const type = trigger.type === 'schedule' ? undefined : trigger.subject?.type;
  const own = about === undefined || type === undefined ? subject : { type, id: about.value as string };
  if (own !== null && !isSubject(own)) return { ok: false, problem: `subject ${SUBJECT_RULE}` };
  return {
    ok: true,
    start: { input: made.value, key: named === undefined ? null : (named.value as string), subject: own },
  };
}
