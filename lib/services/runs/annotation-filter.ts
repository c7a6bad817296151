import { encodeJson } from '../../engine/codec/json.js';
import type { AnnotationFilter } from '../../engine/ports/index.js';
import { InvalidOptionsError, type OptionProblem, UndefinedIdError } from '../../errors/index.js';
import { isUuid } from './run-id.js';

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

const PAGE_SIZE = 50;
const LARGEST_PAGE = 500;
const FILTERS = ['keyPrefix', 'scope', 'actor', 'attempt', 'since', 'until'] as const;
const KNOWN: readonly string[] = [...FILTERS, 'limit', 'cursor'];

/**
 * Checks a filter, and says all that is wrong at once.
 *
 * @throws InvalidOptionsError; UndefinedIdError for a filter that is named and undefined: dropping it would list more than was
 * meant (fault A18)
 */
export function readAnnotationFilter(runId: string, options: ListAnnotationsOptions, where: string): AnnotationFilter {
  const problems: OptionProblem[] = [];
  const need = (holds: boolean, path: string, message: string): void =>
    void (holds || problems.push({ path, message }));

  for (const name of Object.keys(options))
    need(KNOWN.includes(name), name, `is not an option; there are ${KNOWN.join(', ')}`);
  for (const name of FILTERS) {
    if (name in options && options[name] === undefined)
      throw new UndefinedIdError({ what: name, where, hint: 'leave it out to list all' });
  }
  const { keyPrefix, scope, actor, attempt, since, until, limit = PAGE_SIZE, cursor } = options;
  need(keyPrefix === undefined || typeof keyPrefix === 'string', 'keyPrefix', 'must be a text');
  need(scope === undefined || scope === 'run' || scope === 'stage', 'scope', `must be 'run' or 'stage'`);
  need(actor !== null, 'actor', 'must be an actor; leave it out to list those of anybody');
  need(attempt === undefined || (Number.isInteger(attempt) && attempt >= 1), 'attempt', 'must be an integer from 1 on');
  need(isDate(since), 'since', 'must be a valid Date');
  need(isDate(until), 'until', 'must be a valid Date');
  need(
    Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_PAGE,
    'limit',
    `must be an integer from 1 to ${LARGEST_PAGE}`,
  );
  const isCursor = cursor === undefined || cursor === null || (typeof cursor === 'string' && isUuid(cursor));
  need(isCursor, 'cursor', 'must be the cursor of the page before');
  if (problems.length > 0) throw new InvalidOptionsError({ where, problems });
  return {
    runId,
    keyPrefix,
    scope,
    actor: actor === undefined ? undefined : encodeJson(actor, { kind: 'input', what: `${where}: actor` }),
    attempt,
    since: since?.toISOString(),
    until: until?.toISOString(),
    before: cursor ?? undefined,
    limit,
  };
}

function isDate(value: Date | undefined): boolean {
  return value === undefined || (value instanceof Date && !Number.isNaN(value.getTime()));
}
