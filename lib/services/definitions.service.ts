import type { DryRun } from '../engine/dry-run/index.js';
import { inputCheck, type GraphChange } from '../engine/graph/index.js';
import type { GraphFault } from '../errors/index.js';
import type { DefinitionCommands, Published } from './definitions/definition-commands.js';
import {
  definitionIdOf,
  DefinitionOptions,
  noteOf,
  type DefinitionRef,
  type PublishOptions,
  type RetireOptions,
  type SaveDraftOptions,
} from './definitions/definition-options.js';
import { OPERATOR_PLACE, type DefinitionPlace } from './definitions/definition-place.js';
import {
  isRef,
  type DefinitionPage,
  type DefinitionReader,
  type ListDefinitionsOptions,
} from './definitions/definition-reader.js';
import type { DefinitionDetails, DefinitionView } from './definitions/definition-views.js';
import type { TriggerView } from './definitions/trigger-views.js';
import type { Templates, TemplateView } from './definitions/templates.js';
import { checkGraph } from './definitions/graph-checks.js';
import { readDryRun, type DryRunOptions } from './dry-run/dry-run-options.js';
import type { DryRunner } from './dry-run/dry-runner.js';
import type { EngineReady } from './engine-port.js';

export interface DefinitionsServiceParts {
  readonly ready: EngineReady;
  readonly commands: DefinitionCommands;
  readonly reader: DefinitionReader;
  readonly dryRunner: DryRunner;
  readonly templates: Templates;
}

/** What `validate` says of a graph. */
export interface DefinitionCheck {
  readonly valid: boolean;
  /** Every fault, in the order of the graph; empty where it is valid. */
  readonly problems: readonly GraphFault[];
}

/** Another graph than the one that is kept, or the one that is: JSON, or which. */
export type DefinitionOrRef = DefinitionRef | object;

/**
 * Workflows as data: checks graphs, keeps drafts, publishes versions and retires them, for the owner of the caller.
 *
 * What was published is immutable: publishing again makes the next version, and runs stay on theirs. A start takes the owner's own
 * graph before one that all owners share. Where rows have owners, shared graphs are changed by `asOperator()` alone.
 *
 * `saveDraft`, `publish` and `retire` are asked about like operators' calls, by the abilities that `authorization.operations` names,
 * and kept in the audit in the transaction of their change.
 *
 * @publicApi
 */
export class DefinitionsService {
  readonly #parts: DefinitionsServiceParts;
  readonly #place: DefinitionPlace;

  constructor(parts: DefinitionsServiceParts, place: DefinitionPlace) {
    this.#parts = parts;
    this.#place = place;
  }

  /**
   * Says everything that is wrong with a graph, as `publish` would. Whatever it is given, a faulty graph is an answer. An operator says
   * whose it is to be, since that may matter; left out: it is shared by all owners.
   *
   * @throws InvalidOptionsError; UndefinedIdError when no owner comes out of `owners.resolve`; StoreUnavailableError
   */
  async validate(graph: unknown, options: { readonly owner?: string | null } = {}): Promise<DefinitionCheck> {
    const where = 'definitions.validate';
    new DefinitionOptions(options, [], this.#place.operator, where).done();
    const ownerId = await this.#place.ownerOf(options, where);
    const checked = await checkGraph(graph, ownerId, await this.#parts.ready());
    return checked.ok ? { valid: true, problems: [] } : { valid: false, problems: checked.problems };
  }

  /**
   * Says what a run of a graph would do that need not be published: one given as JSON, or one that is kept, a draft too. See
   * `WorkflowService.dryRun`; `owner` is an operator's alone to name. A faulty graph is an answer: `problems`, each with its place, and no path.
   *
   * @throws GraphNotFoundError; as `WorkflowService.dryRun`
   */
  async dryRun(definition: string | DefinitionOrRef, input: unknown, options: DryRunOptions = {}): Promise<DryRun> {
    const where = 'definitions.dryRun';
    const given = typeof definition === 'string' ? { id: definitionIdOf(definition, where) } : definition;
    new DefinitionOptions(options, ['subject', 'actor', 'outputs', 'outcomes'], this.#place.operator, where).done();
    const read = readDryRun(options, where);
    const { reader, ready, dryRunner } = this.#parts;
    const ownerId = await this.#place.ownerOf('owner' in options ? options : isRef(given) ? given : {}, where);
    const engine = await ready();
    const json = await reader.json(isRef(given) ? this.#ref(given, where) : given, ownerId);
    const checked = await checkGraph(json, ownerId, engine);
    if (!checked.ok) {
      const problems = checked.problems.map(({ code, message, path }) => ({ node: null, code, message, path }));
      return { ends: 'failed', path: [], problems };
    }
    const { graph } = checked;
    const compiled = { id: graph.id, version: 0, settings: graph.settings };
    const start = await dryRunner.read({ ...read, start: { ...read.start, owner: ownerId } }, where);
    const target = { compiled, graph, inputSchema: inputCheck(graph.source.input) };
    return dryRunner.run(target, input, read, start, { store: engine.store, nextId: engine.nextId, where });
  }

  /** What admins may start from: templates of the app, and those that every app has, each with its parameters as JSON Schema. */
  async templates(): Promise<TemplateView[]> {
    return this.#parts.templates.list();
  }

  /**
   * A template with its parameters put in, as the JSON of a graph with this id. Nothing is kept: validate it, try it, save or publish it.
   *
   * @throws InvalidOptionsError for a template, or an id, that is none; InvalidInputError for parameters that do not fit
   */
  async fromTemplate(id: string, parameters: unknown, { as }: { readonly as: string }): Promise<object> {
    return this.#parts.templates.fill(id, parameters, as, 'fromTemplate');
  }

  /**
   * Keeps a draft, of which a graph has one. It may be faulty: an object that says its `id`, of at most 256 KiB, 200 nodes and 400
   * edges, is enough. With `expected` nothing of somebody else's is written over.
   *
   * @throws InvalidGraphError, DraftConflictError, AuthorizationDeniedError, InvalidOptionsError, UndefinedIdError, SharedGraphError
   */
  async saveDraft(graph: unknown, options: SaveDraftOptions = {}): Promise<DefinitionView> {
    const where = 'saveDraft';
    const check = new DefinitionOptions(options, ['expected', 'note'], this.#place.operator, where);
    check.text('expected');
    check.done();
    const call = await this.#call(options, options.note, where);
    return this.#parts.commands.saveDraft(graph, options.expected, call);
  }

  /**
   * Publishes a graph, or the draft of one, as its next version: from now on starts take it. Of those who publish at once each gets
   * a number of its own. What is published already, names and descriptions aside, is published no second time: `created: false`.
   *
   * A draft that is published is one no more; one that was saved meanwhile is refused, as it was never checked.
   *
   * @throws InvalidGraphError with every fault, GraphNotFoundError and DraftConflictError of a draft, AuthorizationDeniedError,
   * InvalidOptionsError, UndefinedIdError, SharedGraphError
   */
  async publish(graph: object | { readonly draft: string }, options: PublishOptions = {}): Promise<Published> {
    const where = 'publish';
    const draft = draftIn(graph);
    const known = draft === undefined ? ['note'] : ['note', 'expected'];
    const check = new DefinitionOptions(options, known, this.#place.operator, where);
    check.text('expected');
    check.done();
    const call = await this.#call(options, options.note, where);
    const { commands } = this.#parts;
    if (draft === undefined) return commands.publish(graph, call);
    return commands.publishDraft(definitionIdOf(draft, where), options.expected, call);
  }

  /**
   * Takes a version, or all there are, out of use: nothing starts with it any more, runs that stand go on. There is no way back, but
   * the same graph may be published again. Resolves with the versions that were published until now.
   *
   * @throws GraphNotFoundError, AuthorizationDeniedError, InvalidOptionsError, UndefinedIdError, SharedGraphError
   */
  async retire(id: string, options: RetireOptions = {}): Promise<number[]> {
    const where = 'retire';
    const definitionId = definitionIdOf(id, where);
    const check = new DefinitionOptions(options, ['version', 'reason'], this.#place.operator, where);
    check.version();
    check.done();
    const call = await this.#call(options, options.reason, where);
    return this.#parts.commands.retire(definitionId, options.version ?? null, call);
  }

  /**
   * Drafts and versions, newest first, a page at a time, without the graphs themselves: those of the owner, and versions that all
   * owners share.
   *
   * @throws InvalidOptionsError, UndefinedIdError
   */
  async list(options: ListDefinitionsOptions = {}): Promise<DefinitionPage> {
    const where = 'definitions.list';
    return this.#parts.reader.list(options, await this.#place.scopeOf(where), where);
  }

  /**
   * One of a graph: the highest version that is published, or what `options` name. Where the owner has none, the shared one.
   *
   * @throws GraphNotFoundError, InvalidOptionsError, UndefinedIdError
   */
  async get(id: string, options: Omit<DefinitionRef, 'id'> = {}): Promise<DefinitionDetails> {
    const where = 'definitions.get';
    const ref = this.#ref({ ...options, id: definitionIdOf(id, where) }, where);
    return this.#parts.reader.get(ref, await this.#place.ownerOf(ref, where));
  }

  /**
   * What starts runs by itself, of one graph or of all, by graph and trigger, at most 1,000: the addresses of webhooks, when schedules are
   * due next, and what became of the last time. Those of the owner, and of graphs that all owners share.
   *
   * @throws InvalidOptionsError, UndefinedIdError
   */
  async triggers(id?: string): Promise<readonly TriggerView[]> {
    const where = 'definitions.triggers';
    const definitionId = id === undefined ? undefined : definitionIdOf(id, where);
    return this.#parts.reader.triggers(definitionId, await this.#place.scopeOf(where));
  }

  /**
   * What was changed between two graphs, each given as JSON or named: `diff({ id }, { id, draft: true })`.
   *
   * @throws GraphNotFoundError, InvalidOptionsError, UndefinedIdError
   */
  async diff(before: DefinitionOrRef, after: DefinitionOrRef): Promise<readonly GraphChange[]> {
    const where = 'definitions.diff';
    const ownerId = await this.#ownerOf([before, after], where);
    return this.#parts.reader.diff(before, after, ownerId);
  }

  /**
   * Draws a definition as a Mermaid flow chart: a graph, one that is kept, or a workflow in code.
   *
   * @throws GraphNotFoundError, InvalidOptionsError, UndefinedIdError
   */
  async mermaid(definition: string | DefinitionOrRef): Promise<string> {
    const where = 'definitions.mermaid';
    const given = typeof definition === 'string' ? { id: definitionIdOf(definition, where) } : definition;
    return this.#parts.reader.mermaid(given, await this.#ownerOf([given], where));
  }

  /** The same over all owners, and for what they share. Say it only where the caller was checked. */
  asOperator(): DefinitionsService {
    return new DefinitionsService(this.#parts, OPERATOR_PLACE);
  }

  async #call(options: { readonly owner?: string | null }, note: unknown, where: string) {
    const said = noteOf(note, where);
    const ownerId = await this.#place.writerOf(options, where);
    return { ownerId, operator: this.#place.operator, note: said };
  }

  #ref(ref: DefinitionRef, where: string): DefinitionRef {
    const check = new DefinitionOptions(ref, ['id', 'version', 'draft'], this.#place.operator, where);
    check.version();
    check.draft();
    check.done();
    return ref;
  }

  /** Of those that are named; two owners' graphs are compared by giving one as JSON. */
  async #ownerOf(given: readonly unknown[], where: string): Promise<string | null> {
    const refs = given.filter(isRef).map((ref) => this.#ref(ref, where));
    return this.#place.ownerOf(refs.find(({ owner }) => owner !== undefined) ?? {}, where);
  }
}

function draftIn(graph: unknown): string | undefined {
  if (typeof graph !== 'object' || graph === null || !('draft' in graph) || 'nodes' in graph) return undefined;
  return (graph as { draft: string }).draft ?? '';
}
