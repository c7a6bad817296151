import { isSubject, SUBJECT_RULE } from '../../engine/codec/index.js';
import type { OwnerScope, RunFilter } from '../../engine/ports/index.js';
import { RUN_STATUSES, type RunStatus } from '../../engine/state/statuses.js';
import {
  InvalidOptionsError,
  type MessageOverrides,
  type OptionProblem,
  RunNotFoundError,
  UndefinedIdError,
} from '../../errors/index.js';
import type { EngineReady } from '../engine-port.js';
import { toHistoryView, toRunSummary, toRunView } from './read-views.js';
import { isUuid } from './run-id.js';
import type { ListRunsOptions, RunHistoryView, RunPage, RunView } from './run-views.js';

const PAGE_SIZE = 50;
const LARGEST_PAGE = 500;

/** Reads runs as people see them, always within a scope. */
export class RunReader {
  readonly #ready: EngineReady;
  readonly #messages: MessageOverrides;

  constructor(ready: EngineReady, messages: MessageOverrides) {
    this.#ready = ready;
    this.#messages = messages;
  }

  /** @throws RunNotFoundError */
  async get(runId: string, scope: OwnerScope): Promise<RunView> {
    const { store } = await this.#ready();
    const row = await store.getRun(runId, scope);
    if (!row) throw new RunNotFoundError({ runId });
    return toRunView(row, this.#messages);
  }

  /** @throws RunNotFoundError */
  async history(runId: string, scope: OwnerScope): Promise<RunHistoryView> {
    const { store } = await this.#ready();
    const history = await store.history(runId, scope);
    if (!history) throw new RunNotFoundError({ runId });
    return toHistoryView(history, this.#messages);
  }

  /** Newest first. @throws InvalidOptionsError */
  async list(options: ListRunsOptions, scope: OwnerScope, where: string): Promise<RunPage> {
    const filter = readFilter(options, where);
    const { store } = await this.#ready();
    // One more than the page tells whether another follows, without counting.
    const rows = await store.listRuns({ ...filter, limit: filter.limit + 1 }, scope);
    const page = rows.slice(0, filter.limit);
    const last = page.at(-1);
    return { runs: page.map(toRunSummary), cursor: rows.length > filter.limit && last ? last.id : null };
  }

  async count(definition: string | undefined, scope: OwnerScope): Promise<Record<RunStatus, number>> {
    const { store } = await this.#ready();
    const counts = await store.countRuns(scope, definition);
    return Object.fromEntries(RUN_STATUSES.map((status) => [status, counts[status] ?? 0])) as Record<RunStatus, number>;
  }
}

const KNOWN = ['definition', 'status', 'subject', 'limit', 'cursor'];

function readFilter(options: ListRunsOptions, where: string): RunFilter {
  const problems: OptionProblem[] = [];
  for (const name of Object.keys(options)) {
    if (!KNOWN.includes(name))
      problems.push({ path: name, message: `is not an option; there are ${KNOWN.join(', ')}` });
  }
  // A filter that is named and undefined is a mistake: dropping it would list more than was meant (fault A18).
  for (const name of ['definition', 'status', 'subject'] as const) {
    if (name in options && options[name] === undefined)
      throw new UndefinedIdError({ what: name, where, hint: 'leave it out to list all' });
  }
  const { definition, subject, limit = PAGE_SIZE, cursor } = options;
  const status = options.status === undefined ? undefined : ([options.status].flat() as RunStatus[]);
  if (definition !== undefined && (typeof definition !== 'string' || definition === ''))
    problems.push({ path: 'definition', message: 'must be the id of a definition' });
  if (status?.some((one) => !RUN_STATUSES.includes(one)))
    problems.push({ path: 'status', message: `must be of ${RUN_STATUSES.join(', ')}` });
  if (subject !== undefined && !isSubject(subject)) problems.push({ path: 'subject', message: SUBJECT_RULE });
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE)
    problems.push({ path: 'limit', message: `must be an integer from 1 to ${LARGEST_PAGE}` });
  if (cursor !== undefined && cursor !== null && !(typeof cursor === 'string' && isUuid(cursor)))
    problems.push({ path: 'cursor', message: 'must be the cursor of the page before' });
  if (problems.length > 0) throw new InvalidOptionsError({ where, problems });
  return { definitionId: definition, status, subject, before: cursor ?? undefined, limit };
}
