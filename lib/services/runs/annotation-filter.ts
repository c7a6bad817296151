import { encodeJson, isStoredDate } from '../../engine/codec/index.js';
import type { AnnotationFilter } from '../../engine/ports/index.js';
import { ListCheck } from './list-check.js';

export interface ListAnnotationsOptions {
  /** Keys that begin like this. @default all */
  readonly keyPrefix?: string;
  /** About the run, or about a stage. @default both */
  readonly scope?: 'run' | 'stage';
  /** The actor on whose behalf they were noted down, as it was given to `start`. @default anybody */
  readonly actor?: unknown;
  /** Of this attempt of their stage. @default all */
  readonly attempt?: number;
  /** Noted down at this instant or later. */
  readonly since?: Date;
  /** Noted down before this instant. */
  readonly until?: Date;
  /** From 1 to 500. @default 50 */
  readonly limit?: number;
  /** `cursor` of the page before. @default the newest annotations */
  readonly cursor?: string | null;
}

const NAMES = {
  filters: ['keyPrefix', 'scope', 'actor', 'attempt', 'since', 'until'],
  cursor: 'cursor',
} as const;

/**
 * Checks a filter, and says all that is wrong at once.
 *
 * @throws InvalidOptionsError; UndefinedIdError for a filter that is named and undefined: dropping it would list more than was
 * meant (fault A18)
 */
export function readAnnotationFilter(runId: string, options: ListAnnotationsOptions, where: string): AnnotationFilter {
  const check = new ListCheck(options, NAMES, where);
  const { keyPrefix, scope, actor, attempt, since, until } = options;
  check.need(keyPrefix === undefined || typeof keyPrefix === 'string', 'keyPrefix', 'must be a text');
  check.need(scope === undefined || scope === 'run' || scope === 'stage', 'scope', `must be 'run' or 'stage'`);
  check.need(actor !== null, 'actor', 'must be an actor; leave it out to list those of anybody');
  check.need(
    attempt === undefined || (Number.isInteger(attempt) && attempt >= 1),
    'attempt',
    'must be an integer from 1 on',
  );
  check.need(isDate(since), 'since', 'must be a valid Date, in the years 1 to 9999');
  check.need(isDate(until), 'until', 'must be a valid Date, in the years 1 to 9999');
  const page = check.page();
  return {
    runId,
    keyPrefix,
    scope,
    actor: actor === undefined ? undefined : encodeJson(actor, { kind: 'input', what: `${where}: actor` }),
    attempt,
    since: since?.toISOString(),
    until: until?.toISOString(),
    ...page,
  };
}

function isDate(value: Date | undefined): boolean {
  return value === undefined || isStoredDate(value);
}
