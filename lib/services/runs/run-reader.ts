import { isSubject, SUBJECT_RULE } from '../../engine/codec/index.js';
import { isIdentifier } from '../../engine/definition/identifier.js';
import type { OwnerScope, RunFilter } from '../../engine/ports/index.js';
import { RUN_STATUSES, type RunStatus } from '../../engine/state/statuses.js';
import { InvalidOptionsError, type MessageOverrides, RunNotFoundError } from '../../errors/index.js';
import type { EngineReady } from '../engine-port.js';
import { toHistoryView, toRunSummary, toRunView } from './read-views.js';
import { ListCheck } from './list-check.js';
import type { ListRunsOptions, RunHistoryView, RunPage, RunView } from './run-views.js';

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
    if (definition !== undefined && !isIdentifier(definition)) {
      const problems = [{ path: 'definition', message: 'must be the id of a definition' }];
      throw new InvalidOptionsError({ where: 'count', problems });
    }
    const { store } = await this.#ready();
    const counts = await store.countRuns(scope, definition);
    return Object.fromEntries(RUN_STATUSES.map((status) => [status, counts[status] ?? 0])) as Record<RunStatus, number>;
  }
}

const NAMES = { filters: ['definition', 'status', 'subject'], cursor: 'cursor' } as const;

function readFilter(options: ListRunsOptions, where: string): RunFilter {
  const check = new ListCheck(options, NAMES, where);
  const { definition, subject } = options;
  const status = options.status === undefined ? undefined : ([options.status].flat() as RunStatus[]);
  const isId = definition === undefined || isIdentifier(definition);
  check.need(isId, 'definition', 'must be the id of a definition');
  const areStatuses = status?.every((one) => RUN_STATUSES.includes(one)) ?? true;
  check.need(areStatuses, 'status', `must be of ${RUN_STATUSES.join(', ')}`);
  check.need(subject === undefined || isSubject(subject), 'subject', SUBJECT_RULE);
  return { definitionId: definition, status, subject, ...check.page() };
}
