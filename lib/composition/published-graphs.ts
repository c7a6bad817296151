import { definitionKey } from '../engine/definition/index.js';
import { decodeJson } from '../engine/codec/json.js';
import { inputCheck, validateGraph } from '../engine/graph/index.js';
import type { GraphDetails, GraphKey, WorkflowStore } from '../engine/ports/index.js';
import { graphDefinition, type TurnLimits } from '../engine/walk/index.js';
import type { RuntimeLog } from '../runtime/background/runtime-log.js';
import type { RuntimeDefinition } from '../runtime/execution/definition-source.js';
import type { GraphWorkbench, StartableDefinition } from '../services/engine-port.js';

export interface PublishedGraphsParts {
  readonly store: Pick<WorkflowStore, 'graphByKey' | 'graphExists' | 'startableGraph'>;
  readonly workbench: GraphWorkbench;
  readonly limits: TurnLimits;
  readonly log: Pick<RuntimeLog, 'warn'>;
}

/** Compiled graphs that are kept at hand; what a body still runs by is kept as long as it does. */
const MOST_KEPT = 500;

type ServedGraph = RuntimeDefinition & StartableDefinition;

/**
 * The published graphs that this process has met, compiled once each. A version never changes, so that what is at hand is never read
 * again: a start asks the store for the key alone, and so misses nothing that was published elsewhere.
 */
export class PublishedGraphs {
  readonly #parts: PublishedGraphsParts;
  /** By key, the one used last at the end. */
  readonly #kept = new Map<string, ServedGraph>();
  readonly #used = new Map<string, WeakRef<ServedGraph>>();
  readonly #loading = new Map<string, Promise<ServedGraph | undefined>>();
  /** Keys whose graph can't be served here, told once each. */
  readonly #told = new Set<string>();

  constructor(parts: PublishedGraphsParts) {
    this.#parts = parts;
  }

  /** One that is at hand. */
  byKey(key: string): ServedGraph | undefined {
    const kept = this.#kept.get(key) ?? this.#used.get(key)?.deref();
    if (kept) this.#keep(key, kept);
    return kept;
  }

  /** The same, read from the store where it is not at hand; undefined where this build can't serve it, which the log says once. */
  async load(key: string, ownerId: string | null): Promise<ServedGraph | undefined> {
    const known = this.byKey(key);
    const parsed = known ? undefined : parseKey(key);
    if (!parsed) return known;
    // Two owners may not see the same rows.
    const name = JSON.stringify([key, ownerId]);
    const begun = this.#loading.get(name);
    if (begun) return begun;
    const loading = this.#read(key, parsed, ownerId).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  /** Whether there is such a graph, and not for this owner. */
  async isOthers(key: string, ownerId: string | null): Promise<boolean> {
    const parsed = parseKey(key);
    if (!parsed || (await this.#parts.store.graphByKey(parsed, ownerId))) return false;
    return this.#parts.store.graphExists(parsed);
  }

  /** What a start of this owner's takes: one cheap read, and a second one for what is not at hand. */
  async startable(
    definitionId: string,
    version: number | undefined,
    ownerId: string | null,
  ): Promise<StartableDefinition | undefined> {
    const found = await this.#parts.store.startableGraph({ ownerId, definitionId }, version ?? null);
    if (!found) return undefined;
    const served = await this.load(keyOf(found), ownerId);
    if (!served) return undefined;
    // An owner's starts of his own graph take nothing away from another's.
    const rateName = found.ownerId === null ? definitionId : JSON.stringify([definitionId, found.ownerId]);
    return { ...served, rateName };
  }

  async #read(key: string, parsed: GraphKey, ownerId: string | null): Promise<ServedGraph | undefined> {
    const row = await this.#parts.store.graphByKey(parsed, ownerId);
    const served = row && (await this.#compile(key, row));
    if (!served) return undefined;
    this.#keep(key, served);
    this.#told.delete(key);
    return served;
  }

  async #compile(key: string, { source, version }: GraphDetails): Promise<ServedGraph | undefined> {
    const { workbench, limits } = this.#parts;
    // What it may start is looked for when it does.
    const checked = await validateGraph(decodeJson(source, `Graph ${key}`), workbench.catalogue());
    if (!checked.ok) {
      const [first] = checked.problems;
      this.#tell(key, `${first!.path}: ${first!.message}`);
      return undefined;
    }
    const { graph } = checked;
    const compiled = graphDefinition(graph, version!, limits);
    // Under row-level security an owner may write into his rows what he likes: nobody's runs come to what their key does not name.
    if (definitionKey(compiled) !== key) {
      this.#tell(key, 'what is stored is not what was published');
      return undefined;
    }
    return Object.freeze({ compiled, graph, inputSchema: inputCheck(graph.source.input) });
  }

  #keep(key: string, served: ServedGraph): void {
    this.#kept.delete(key);
    this.#kept.set(key, served);
    if (this.#kept.size <= MOST_KEPT) return;
    const [oldest, graph] = this.#kept.entries().next().value!;
    this.#kept.delete(oldest);
    for (const [other, ref] of this.#used) if (ref.deref() === undefined) this.#used.delete(other);
    this.#used.set(oldest, new WeakRef(graph));
  }

  #tell(key: string, why: string): void {
    if (this.#told.has(key) || this.#told.size > MOST_KEPT) return;
    this.#told.add(key);
    this.#parts.log.warn(
      `The graph ${key} can't be served by this build: ${why}. It is left to processes that have what it names; to serve it here ` +
        'too, give this build what is missing.',
    );
  }
}

const keyOf = ({ definitionId, version, fingerprint }: GraphKey): string =>
  definitionKey({ id: definitionId, version, fingerprint });

function parseKey(key: string): GraphKey | undefined {
  const [, definitionId, version, fingerprint] = /^([^@#]+)@([0-9]{1,9})#([0-9a-f]+)$/.exec(key) ?? [];
  if (definitionId === undefined || fingerprint === undefined) return undefined;
  return { definitionId, version: Number(version), fingerprint };
}
