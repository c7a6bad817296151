import type { OwnerBoundary } from '../../context/index.js';
import { seriesId } from '../../engine/codec/series-id.js';
import { decodeJson, encodeJson } from '../../engine/codec/index.js';
import { type Graph, readDraft, triggersOf } from '../../engine/graph/index.js';
import type {
  GraphDecision,
  GraphEvent,
  GraphHead,
  GraphName,
  GraphRow,
  NewTrigger,
  OwnerScope,
} from '../../engine/ports/index.js';
import {
  decideDraft,
  decidePublish,
  decideRetire,
  type DraftAnswer,
  type PublishAnswer,
  type RetireAnswer,
} from '../../engine/state/decide-graph-change.js';
import { DraftConflictError, GraphNotFoundError, InvalidGraphError } from '../../errors/index.js';
import type { DefinitionOperation } from '../../interfaces/index.js';
import type { EnginePort, EngineReady } from '../engine-port.js';
import type { Details, Operations } from '../operations/operations.js';
import { toDefinitionView, type DefinitionView } from './definition-views.js';
import { checkGraph } from './graph-checks.js';

/** Whose, and what is kept of the call. */
export interface DefinitionCall {
  readonly ownerId: string | null;
  readonly operator: boolean;
  /** The note, or the reason, of the caller. */
  readonly note: string | null;
}

/** What became of a graph that was to be published. */
export interface Published {
  readonly id: string;
  readonly version: number;
  readonly fingerprint: string;
  /** False: the newest published version is this very graph, names and descriptions aside; nothing was written. */
  readonly created: boolean;
}

/** What stood against publishing a draft before it came to a decision. */
interface Refused {
  readonly kind: 'refused';
  readonly code: 'DRAFT_CONFLICT' | 'GRAPH_NOT_FOUND' | 'INVALID_GRAPH';
}

type Answer = DraftAnswer | PublishAnswer | RetireAnswer | Refused;

/** Changes graphs: asks who may, then decides under the lock of the graph, from what there is of it then. */
export class DefinitionCommands {
  readonly #ready: EngineReady;
  readonly #operations: Operations;
  readonly #boundary: OwnerBoundary;

  constructor(ready: EngineReady, operations: Operations, boundary: OwnerBoundary) {
    this.#ready = ready;
    this.#operations = operations;
    this.#boundary = boundary;
  }

  /** @throws InvalidGraphError, DraftConflictError, AuthorizationDeniedError */
  async saveDraft(given: unknown, expected: string | null | undefined, call: DefinitionCall): Promise<DefinitionView> {
    const read = readDraft(given);
    if (!read.ok) throw new InvalidGraphError({ action: 'saved', problems: read.problems });
    const { id: definitionId, source } = read;
    const name = { ownerId: call.ownerId, definitionId };
    const { answer, rows } = await this.#change<DraftAnswer>('saveDraft', name, null, call, (head, engine) =>
      decideDraft(head, { id: engine.nextId(), source, note: call.note }, expected),
    );
    if (answer.kind === 'conflict') throw new DraftConflictError({ workflow: definitionId, revision: answer.draft });
    return toDefinitionView(rows[0]!);
  }

  /** @throws InvalidGraphError with every fault, AuthorizationDeniedError */
  async publish(given: unknown, call: DefinitionCall): Promise<Published> {
    return this.#publish(given, null, call);
  }

  /** @throws GraphNotFoundError, DraftConflictError, InvalidGraphError with every fault, AuthorizationDeniedError */
  async publishDraft(definitionId: string, expected: string | undefined, call: DefinitionCall): Promise<Published> {
    const { store } = await this.#ready();
    const draft = await store.findGraph({ ownerId: call.ownerId, definitionId }, 'draft');
    if (expected !== undefined && draft?.id !== expected) {
      await this.#keepRefused('DRAFT_CONFLICT', definitionId, call);
      throw new DraftConflictError({ workflow: definitionId, revision: draft?.id ?? null });
    }
    if (!draft) {
      await this.#keepRefused('GRAPH_NOT_FOUND', definitionId, call);
      throw new GraphNotFoundError({ workflow: definitionId, what: 'draft' });
    }
    return this.#publish(decodeJson(draft.source, `The draft of ${definitionId}`), draft.id, call);
  }

  /** @throws GraphNotFoundError, AuthorizationDeniedError */
  async retire(definitionId: string, version: number | null, call: DefinitionCall): Promise<number[]> {
    const name = { ownerId: call.ownerId, definitionId };
    const { answer } = await this.#change<RetireAnswer>('retire', name, version, call, (head) =>
      decideRetire(head, version),
    );
    if (!answer.known) {
      const what = version === null ? 'published version' : `version ${version}`;
      throw new GraphNotFoundError({ workflow: definitionId, what });
    }
    return [...answer.versions];
  }

  async #publish(given: unknown, draft: string | null, call: DefinitionCall): Promise<Published> {
    const engine = await this.#ready();
    const checked = await checkGraph(given, call.ownerId, engine);
    if (!checked.ok) {
      const { problems } = checked;
      const workflow = nameIn(given);
      // What is handed in is a faulty argument; a draft is there, and somebody meant to publish it.
      if (draft !== null) await this.#keepRefused('INVALID_GRAPH', workflow!, call);
      throw new InvalidGraphError({ workflow, action: 'published', problems });
    }
    const { id: definitionId, fingerprint, source: graph } = checked.graph;
    const source = encodeJson(graph);
    const name = { ownerId: call.ownerId, definitionId };
    const { answer } = await this.#change<PublishAnswer>('publish', name, null, call, (head, { nextId }) =>
      decidePublish(head, { id: nextId(), fingerprint, source, note: call.note, draft }),
    );
    if (answer.kind === 'conflict') throw new DraftConflictError({ workflow: definitionId, revision: answer.draft });
    return { id: definitionId, version: answer.version, fingerprint, created: answer.kind === 'published' };
  }

  /** Asks who may, and keeps that a draft was to be published which could not be. @throws AuthorizationDeniedError */
  async #keepRefused(code: Refused['code'], definitionId: string, call: DefinitionCall): Promise<void> {
    const name = { ownerId: call.ownerId, definitionId };
    const answer: Refused = { kind: 'refused', code };
    await this.#change<Refused>('publish', name, null, call, () => ({ change: null, answer }));
  }

  async #change<R extends Answer>(
    operation: DefinitionOperation,
    name: GraphName,
    version: number | null,
    { ownerId, operator, note }: DefinitionCall,
    decide: (head: GraphHead, engine: EnginePort) => GraphDecision<R>,
  ): Promise<{ readonly answer: R; readonly rows: readonly GraphRow[] }> {
    const engine = await this.#ready();
    const caller = this.#operations.caller();
    const scope: OwnerScope = operator ? { all: true } : { owner: ownerId };
    const definition = { id: name.definitionId, version, owner: ownerId };
    return this.#boundary.run(ownerId, async () => {
      const entry = await this.#operations.permitDefinition(
        { operation, definition, scope, reason: note, caller },
        engine,
      );
      const { actor } = entry();
      const event = (row: GraphRow): GraphEvent => ({ event: told(operation, row), seriesId: seriesId(name) });
      const audit = (answer: R) => entry(outcomeOf(answer));
      const triggers = (source: string): NewTrigger[] =>
        triggersOf(decodeJson(source, `Graph ${name.definitionId}`) as Graph, engine.nextId);
      const options = { actor, audit, event, triggers };
      const changed = await engine.store.changeGraph(name, (head) => decide(head, engine), options);
      // The outbox has something to tell.
      if (changed.rows.length > 0 && operation !== 'saveDraft') engine.announce({});
      return changed;
    });
  }
}

function told(operation: DefinitionOperation, { definitionId, version, fingerprint, note }: GraphRow) {
  const type = operation === 'retire' ? ('definition:retired' as const) : ('definition:published' as const);
  return { type, data: { definition: definitionId, version, fingerprint, note } };
}

/** What the audit says came of a call. */
function outcomeOf(answer: Answer): Details {
  switch (answer.kind) {
    case 'saved':
      return {};
    case 'refused':
      return { refused: answer.code };
    case 'conflict':
      return { refused: 'DRAFT_CONFLICT' };
    case 'retired':
      return answer.known ? { versions: answer.versions } : { refused: 'GRAPH_NOT_FOUND' };
    case 'unchanged':
      return { version: answer.version, unchanged: true };
    case 'published':
      return { version: answer.version };
  }
}

function nameIn(given: unknown): string | undefined {
  const { id } = (given ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
