import { encodeJson } from '../../engine/codec/index.js';
import type { AuditFilter } from '../../engine/ports/index.js';
import { InvalidOptionsError, type OptionProblem, UndefinedIdError } from '../../errors/index.js';
import type { RunHandle } from '../../interfaces/index.js';
import { isUuid, runIdOf } from '../runs/run-id.js';

export interface ListAuditOptions {
  /** Of this run. @default all */
  readonly run?: RunHandle | string;
  /** Asked by this actor, as `setActor` was given it. @default anybody */
  readonly actor?: unknown;
  /** `cancel`, `retry`, …, `request`. @default all */
  readonly action?: string;
  /** `after` of the page before. @default the newest entries */
  readonly after?: string | null;
  /** From 1 to 500. @default 50 */
  readonly limit?: number;
}

const PAGE_SIZE = 50;
const LARGEST_PAGE = 500;
const FILTERS = ['run', 'actor', 'action'] as const;
const KNOWN: readonly string[] = [...FILTERS, 'after', 'limit'];

/**
 * Checks a filter, and says all that is wrong at once.
 *
 * @throws InvalidOptionsError; UndefinedIdError for a filter that is named and undefined: dropping it would list more than was
 * meant (fault A18); RunNotFoundError
 */
export function readAuditFilter(options: ListAuditOptions, where: string): AuditFilter {
  const problems: OptionProblem[] = [];
  const need = (holds: boolean, path: string, message: string): void =>
    void (holds || problems.push({ path, message }));
  for (const name of Object.keys(options))
    need(KNOWN.includes(name), name, `is not an option; there are ${KNOWN.join(', ')}`);
  for (const name of FILTERS) {
    if (name in options && options[name] === undefined)
      throw new UndefinedIdError({ what: name, where, hint: 'leave it out to list all' });
  }
  const { run, actor, action, after, limit = PAGE_SIZE } = options;
  need(actor !== null, 'actor', 'must be an actor; leave it out to list what anybody asked for');
  need(action === undefined || (typeof action === 'string' && action !== ''), 'action', 'must be a text');
  const isPage = Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_PAGE;
  need(isPage, 'limit', `must be an integer from 1 to ${LARGEST_PAGE}`);
  const isCursor = after === undefined || after === null || (typeof after === 'string' && isUuid(after));
  need(isCursor, 'after', 'must be `after` of the page before');
  if (problems.length > 0) throw new InvalidOptionsError({ where, problems });
  return {
    runId: run === undefined ? undefined : runIdOf(run, where),
    actor: actor === undefined ? undefined : encodeJson(actor, { kind: 'input', what: `${where}: actor` }),
    action,
    before: after ?? undefined,
    limit,
  };
}
