import type { EngineEvent, JsonText } from '../state/rows.js';
import type { AuditEntry } from './audit-store.js';
import type { OwnerScope } from './scope.js';
import type { NewTrigger } from './trigger-store.js';

export type GraphStatus = 'draft' | 'published' | 'retired';

/** Whose a graph is, and which. An owner's and a shared one of the same id are two graphs, each with versions of its own. */
export interface GraphName {
  /** Null: shared by all owners. */
  readonly ownerId: string | null;
  readonly definitionId: string;
}

/** A draft, or a version, without what is in it. Instants are ISO 8601, of the database's clock. */
export interface GraphRow extends GraphName {
  /** Of a draft another one each time that it is saved: who saves names the one that he has read. */
  readonly id: string;
  readonly status: GraphStatus;
  /** From 1, without gaps; null: a draft. */
  readonly version: number | null;
  /** Of the graph but for names and descriptions; null: a draft. */
  readonly fingerprint: string | null;
  readonly note: string | null;
  /** Who saved or published it. */
  readonly actor: JsonText | null;
  /** A version that was a draft is as old as the draft. */
  readonly createdAt: string;
  /** When the draft was saved last; of a version, when it was published. */
  readonly savedAt: string;
  readonly publishedAt: string | null;
  readonly retiredAt: string | null;
}

export interface GraphDetails extends GraphRow {
  /** The graph as it was given. */
  readonly source: JsonText;
}

/** What there is of a graph, as `changeGraph` found it under its lock. */
export interface GraphHead {
  /** The id of the draft, which is there or not. */
  readonly draft: string | null;
  /** In the order of their numbers. */
  readonly versions: readonly {
    readonly version: number;
    readonly status: GraphStatus;
    readonly fingerprint: string;
  }[];
}

export type GraphChange =
  | { readonly kind: 'draft'; readonly id: string; readonly source: JsonText; readonly note: string | null }
  | {
      readonly kind: 'publish';
      readonly id: string;
      readonly version: number;
      readonly fingerprint: string;
      readonly source: JsonText;
      readonly note: string | null;
      /** The draft that goes with it; null: it stays, if there is one. */
      readonly draft: string | null;
    }
  | { readonly kind: 'retire'; readonly versions: readonly number[] };

export interface GraphDecision<R> {
  /** Null: nothing is written but the audit. */
  readonly change: GraphChange | null;
  readonly answer: R;
}

export interface GraphChangeOptions<R> {
  /** Who changes it, kept in the rows and told with the events. */
  readonly actor: JsonText | null;
  /** What is kept of this call, by what was answered: a part of the same transaction, whether anything was changed or not. */
  readonly audit?: (answer: R) => AuditEntry;
  /**
   * What of a version starts runs by itself. After a version was published or retired, the triggers of the highest one that is published
   * are put in force, none where there is none: a part of the same transaction.
   */
  readonly triggers?: (source: JsonText) => readonly NewTrigger[];
  /** What the world is told of a version that was published or retired: a part of the same transaction (EVT-1). */
  readonly event?: (row: GraphRow) => GraphEvent;
}

export interface GraphEvent {
  readonly event: EngineEvent;
  /** The same for all that is told of this graph, which is delivered in order. */
  readonly seriesId: string;
}

export interface GraphChanged<R> {
  readonly answer: R;
  /** What was written: the draft, the version, or those that were retired. */
  readonly rows: readonly GraphRow[];
}

export interface GraphFilter {
  readonly definitionId?: string;
  readonly status?: readonly GraphStatus[];
  /** Rows before this id (they are listed newest first): the last id of the page before. */
  readonly before?: string;
  readonly limit: number;
}

/** Names what runs of a graph are pinned to: what is the same by all of it runs alike, whoever published it. */
export interface GraphKey {
  readonly definitionId: string;
  readonly version: number;
  readonly fingerprint: string;
}

export interface GraphStore {
  /**
   * Locks a graph, there or not, reads what there is of it, asks `decide`, writes: one transaction. Changes of one graph follow each
   * other, so that a number is given once and no draft is written over unseen. A version that stands is never changed but for
   * being retired, and never removed.
   *
   * `decide` may be asked more than once.
   */
  changeGraph<R>(
    name: GraphName,
    decide: (head: GraphHead) => GraphDecision<R>,
    options: GraphChangeOptions<R>,
  ): Promise<GraphChanged<R>>;

  /**
   * One of a graph: its draft, its highest version that is published, or a version, published or retired.
   *
   * @param orShared where the owner has none, the shared one, but never its draft
   */
  findGraph(
    name: GraphName,
    which: 'draft' | 'newest' | number,
    options?: { readonly orShared?: boolean },
  ): Promise<GraphDetails | undefined>;

  /**
   * What a start of this owner's is pinned to: the owner's own before the shared one, the highest version that is published unless
   * one is named. Cheap: asked at every start of a graph, so that one published elsewhere is found at once.
   */
  startableGraph(name: GraphName, version: number | null): Promise<(GraphKey & GraphName) | undefined>;

  /** Those among these ids of which the owner may start a graph: his own, or a shared one. */
  startableIds(definitionIds: readonly string[], ownerId: string | null): Promise<string[]>;

  /**
   * What a key stands for to an owner, published or retired: his own, or the shared one. Under row-level security an owner can write
   * what he likes into rows of his own: nobody else's runs may come to it.
   */
  graphByKey(key: GraphKey, ownerId: string | null): Promise<GraphDetails | undefined>;

  /** Whether there is such a version, whoever may see it. */
  graphExists(key: GraphKey): Promise<boolean>;

  /** Drafts and versions, newest first; within an owner his own, and shared versions. */
  listGraphs(filter: GraphFilter, scope: OwnerScope): Promise<GraphRow[]>;
}
