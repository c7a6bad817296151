import { encodeJson, isPlainText, MAX_KEY_LENGTH } from '../../engine/codec/index.js';
import type { AuditFilter } from '../../engine/ports/index.js';
import type { RunHandle } from '../../interfaces/index.js';
import { ListCheck } from '../runs/list-check.js';
import { runIdOf } from '../runs/run-id.js';

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

const NAMES = { filters: ['run', 'actor', 'action'], cursor: 'after' } as const;

/**
 * Checks a filter, and says all that is wrong at once.
 *
 * @throws InvalidOptionsError; UndefinedIdError for a filter that is named and undefined: dropping it would list more than was
 * meant (fault A18); RunNotFoundError
 */
export function readAuditFilter(options: ListAuditOptions, where: string): AuditFilter {
  const check = new ListCheck(options, NAMES, where);
  const { run, actor, action } = options;
  check.need(actor !== null, 'actor', 'must be an actor; leave it out to list what anybody asked for');
  check.need(
    action === undefined || isPlainText(action, MAX_KEY_LENGTH),
    'action',
    `must be a text of 1 to ${MAX_KEY_LENGTH} characters`,
  );
  const page = check.page();
  return {
    runId: run === undefined ? undefined : runIdOf(run, where),
    actor: actor === undefined ? undefined : encodeJson(actor, { kind: 'input', what: `${where}: actor` }),
    action,
    ...page,
  };
}
