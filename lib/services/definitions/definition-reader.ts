import { decodeJson } from '../../engine/codec/json.js';
import { diffGraphs, type GraphChange, looseGraph, toMermaid } from '../../engine/graph/index.js';
import type { GraphDetails, GraphFilter, GraphStatus, OwnerScope } from '../../engine/ports/index.js';
import { GraphNotFoundError } from '../../errors/index.js';
import type { EngineReady } from '../engine-port.js';
import { ListCheck } from '../runs/list-check.js';
import type { DefinitionRef } from './definition-options.js';
import { definitionIdOf } from './definition-options.js';
import {
  toDefinitionDetails,
  toDefinitionView,
  type DefinitionDetails,
  type DefinitionView,
} from './definition-views.js';
import { toTriggerView, type TriggerView } from './trigger-views.js';

export interface ListDefinitionsOptions {
  /** Of this graph. @default all */
  readonly id?: string;
  /** @default all */
  readonly status?: GraphStatus | readonly GraphStatus[];
  /** `cursor` of the page before. @default the newest */
  readonly cursor?: string | null;
  /** From 1 to 500. @default 50 */
  readonly limit?: number;
}

export interface DefinitionPage {
  readonly definitions: readonly DefinitionView[];
  /** Pass it as `cursor` for the next page; null = this was the last. */
  readonly cursor: string | null;
}

/** How many triggers are shown at once. */
const MOST_TRIGGERS = 1_000;
const STATUSES: readonly GraphStatus[] = ['draft', 'published', 'retired'];
const NAMES = { filters: ['id', 'status'], cursor: 'cursor' } as const;

/** Shows graphs: drafts and versions, and what is different between them. */
export class DefinitionReader {
  readonly #ready: EngineReady;

  constructor(ready: EngineReady) {
    this.#ready = ready;
  }

  async list(options: ListDefinitionsOptions, scope: OwnerScope, where: string): Promise<DefinitionPage> {
    const filter = readFilter(options, where);
    const { store } = await this.#ready();
    // One more than the page tells whether another follows, without counting.
    const rows = await store.listGraphs({ ...filter, limit: filter.limit + 1 }, scope);
    const page = rows.slice(0, filter.limit);
    const last = page.at(-1);
    return { definitions: page.map(toDefinitionView), cursor: rows.length > filter.limit && last ? last.id : null };
  }

  /** @throws GraphNotFoundError */
  async get(ref: DefinitionRef, ownerId: string | null): Promise<DefinitionDetails> {
    return toDefinitionDetails(await this.#find(ref, ownerId));
  }

  async triggers(definitionId: string | undefined, scope: OwnerScope): Promise<readonly TriggerView[]> {
    const { store } = await this.#ready();
    const filter = { ...(definitionId !== undefined && { definitionId }), limit: MOST_TRIGGERS };
    return (await store.listTriggers(filter, scope)).map(toTriggerView);
  }

  /** `before` and `after`: a graph, or one that is kept. @throws GraphNotFoundError */
  async diff(before: unknown, after: unknown, ownerId: string | null): Promise<readonly GraphChange[]> {
    return diffGraphs(looseGraph(await this.json(before, ownerId)), looseGraph(await this.json(after, ownerId)));
  }

  /** Of a graph, one that is kept, or a workflow in code. @throws GraphNotFoundError */
  async mermaid(given: unknown, ownerId: string | null): Promise<string> {
    if (isRef(given) && given.draft !== true) {
      const { graphs } = await this.#ready();
      const code = graphs.code(given.id, given.version);
      if (code) return toMermaid(code);
    }
    return toMermaid(looseGraph(await this.json(given, ownerId)));
  }

  /** A graph, or one that is kept, as JSON. @throws GraphNotFoundError */
  async json(given: unknown, ownerId: string | null): Promise<unknown> {
    if (!isRef(given)) return given;
    const { source, definitionId } = await this.#find(given, ownerId);
    return decodeJson(source, `Graph ${definitionId}`);
  }

  async #find({ id, version, draft = false }: DefinitionRef, ownerId: string | null): Promise<GraphDetails> {
    const { store } = await this.#ready();
    const which = draft ? 'draft' : (version ?? 'newest');
    const found = await store.findGraph({ ownerId, definitionId: id }, which, { orShared: true });
    if (found) return found;
    const what = draft ? 'draft' : version === undefined ? 'published version' : `version ${version}`;
    throw new GraphNotFoundError({ workflow: id, what });
  }
}

/** What names a graph has no nodes; a graph without them is none that anything could be said of. */
export function isRef(given: unknown): given is DefinitionRef {
  if (typeof given !== 'object' || given === null || 'nodes' in given || 'edges' in given) return false;
  return typeof (given as { id?: unknown }).id === 'string';
}

function readFilter(options: ListDefinitionsOptions, where: string): GraphFilter {
  const check = new ListCheck(options, NAMES, where);
  const { id, status } = options;
  const statuses = status === undefined ? undefined : [status].flat();
  const known = statuses === undefined || (statuses.length > 0 && statuses.every((one) => STATUSES.includes(one)));
  check.need(known, 'status', `must be one of ${STATUSES.join(', ')}, or a list of them`);
  const page = check.page();
  return { ...page, definitionId: id === undefined ? undefined : definitionIdOf(id, where), status: statuses };
}
