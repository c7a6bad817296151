import type {
  GraphChange,
  GraphChanged,
  GraphChangeOptions,
  GraphDecision,
  GraphDetails,
  GraphFilter,
  GraphHead,
  GraphKey,
  GraphName,
  GraphRow,
  GraphStatus,
  GraphStore,
  OwnerScope,
} from '../../engine/ports/index.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import type { TransactionQuery } from '../engine-pool.js';
import { keepAudit } from './audit.js';
import type { StoreContext } from './store-context.js';
import { keepTriggers } from './triggers.js';

interface HeadRow {
  readonly id: string;
  readonly version: number | null;
  readonly status: GraphStatus;
  readonly fingerprint: string | null;
}

/** Drafts and versions of graphs. What is shared by all owners is written past row-level security: services ask who may. */
export class PostgresGraphs implements GraphStore {
  constructor(private readonly context: StoreContext) {}

  async changeGraph<R>(
    name: GraphName,
    decide: (head: GraphHead) => GraphDecision<R>,
    options: GraphChangeOptions<R>,
  ): Promise<GraphChanged<R>> {
    return this.context.sessions.transaction(scopeOf(name), (query) => this.change(query, name, decide, options));
  }

  async findGraph(
    { definitionId, ownerId }: GraphName,
    which: 'draft' | 'newest' | number,
    { orShared = false }: { readonly orShared?: boolean } = {},
  ): Promise<GraphDetails | undefined> {
    const { sessions, statements } = this.context;
    const version = typeof which === 'number' ? which : null;
    const values = [definitionId, ownerId, version, which === 'draft', orShared];
    const [graph] = await sessions.run(scopeOf({ ownerId }), (query) =>
      query<GraphDetails>(statements.findGraph, values),
    );
    return graph;
  }

  async startableGraph(
    { definitionId, ownerId }: GraphName,
    version: number | null,
  ): Promise<(GraphKey & GraphName) | undefined> {
    const { sessions, statements } = this.context;
    const values = [definitionId, ownerId, version];
    const [found] = await sessions.run(scopeOf({ ownerId }), (query) =>
      query<GraphKey & GraphName>(statements.startableGraph, values),
    );
    return found;
  }

  async startableIds(definitionIds: readonly string[], ownerId: string | null): Promise<string[]> {
    if (definitionIds.length === 0) return [];
    const { sessions, statements } = this.context;
    const found = await sessions.run(scopeOf({ ownerId }), (query) =>
      query<{ id: string }>(statements.startableIds, [definitionIds, ownerId]),
    );
    return found.map(({ id }) => id);
  }

  async graphByKey(
    { definitionId, version, fingerprint }: GraphKey,
    ownerId: string | null,
  ): Promise<GraphDetails | undefined> {
    const { pool, statements } = this.context;
    const values = [definitionId, version, fingerprint, ownerId];
    const [graph] = await pool.query<GraphDetails>(statements.graphByKey, values);
    return graph;
  }

  async graphExists({ definitionId, version, fingerprint }: GraphKey): Promise<boolean> {
    const { pool, statements } = this.context;
    const [row] = await pool.query<{ found: boolean }>(statements.graphExists, [definitionId, version, fingerprint]);
    return row!.found;
  }

  async listGraphs({ definitionId, status, before, limit }: GraphFilter, scope: OwnerScope): Promise<GraphRow[]> {
    const { sessions, statements } = this.context;
    const values = [scopeValue(scope), definitionId, status, before, limit];
    const within = 'all' in scope ? scope : scopeOf({ ownerId: scope.owner });
    return sessions.run(within, (query) => query<GraphRow>(statements.listGraphs[scopeKind(scope)], values));
  }

  private async change<R>(
    query: TransactionQuery,
    name: GraphName,
    decide: (head: GraphHead) => GraphDecision<R>,
    options: GraphChangeOptions<R>,
  ): Promise<GraphChanged<R>> {
    const { statements } = this.context;
    const { ownerId, definitionId } = name;
    await query(statements.lockGraph, [JSON.stringify([ownerId, definitionId])]);
    const head = headOf(await query<HeadRow>(statements.readGraphHead, [definitionId, ownerId]));
    const { change, answer } = decide(head);
    const rows = change ? await this.write(query, name, change, options.actor) : [];
    if (change && change.kind !== 'draft') {
      await this.putInForce(query, name, options);
      await this.tell(query, rows, options);
    }
    if (options.audit) await keepAudit(this.context, query, [{ ...options.audit(answer), runId: null, ownerId }]);
    return { answer, rows };
  }

  private async write(
    query: TransactionQuery,
    { ownerId, definitionId }: GraphName,
    change: GraphChange,
    actor: string | null,
  ): Promise<GraphRow[]> {
    const { statements, clock } = this.context;
    if (change.kind === 'retire') {
      const rows = await query<GraphRow>(statements.retireGraphs, [
        clock.offsetMs,
        definitionId,
        ownerId,
        change.versions,
      ]);
      return rows.sort((a, b) => a.version! - b.version!);
    }
    const { id, source, note } = change;
    const values = [clock.offsetMs, id, ownerId, definitionId, source, note, actor];
    if (change.kind === 'draft') return query<GraphRow>(statements.saveDraft, values);
    const { version, fingerprint, draft } = change;
    return query<GraphRow>(statements.publishGraph, [...values, version, fingerprint, draft]);
  }

  /** The triggers of the version that starts are made on now. */
  private async putInForce<R>(
    query: TransactionQuery,
    { ownerId, definitionId }: GraphName,
    { triggers }: GraphChangeOptions<R>,
  ): Promise<void> {
    if (!triggers) return;
    const newest = [definitionId, ownerId, null, false, false];
    const [graph] = await query<GraphDetails>(this.context.statements.findGraph, newest);
    await keepTriggers(this.context, query, {
      ownerId,
      definitionId,
      definitionVersion: graph?.version ?? 0,
      triggers: graph ? triggers(graph.source) : [],
    });
  }

  private async tell<R>(
    query: TransactionQuery,
    rows: readonly GraphRow[],
    { event, actor }: GraphChangeOptions<R>,
  ): Promise<void> {
    if (!event) return;
    const { statements, clock } = this.context;
    for (const row of rows) {
      const told = event(row);
      const events = JSON.stringify([told.event]);
      const { ownerId, definitionId, version } = row;
      await query(statements.tellOfGraph, [
        clock.offsetMs,
        told.seriesId,
        ownerId,
        events,
        definitionId,
        version,
        actor,
      ]);
    }
  }
}

/** Under row-level security nobody's session writes what is all owners'. */
const scopeOf = ({ ownerId }: Pick<GraphName, 'ownerId'>): OwnerScope =>
  ownerId === null ? { all: true } : { owner: ownerId };

function headOf(rows: readonly HeadRow[]): GraphHead {
  return {
    draft: rows.find(({ version }) => version === null)?.id ?? null,
    versions: rows.flatMap(({ version, status, fingerprint }) =>
      version === null || fingerprint === null ? [] : [{ version, status, fingerprint }],
    ),
  };
}
