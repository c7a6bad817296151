import type { GraphDetails, GraphRow, GraphStatus } from '../../engine/ports/index.js';
import { decode } from '../runs/decoded.js';

/** A draft, or a version, of a graph. */
export interface DefinitionView {
  /** Id of the graph. */
  readonly id: string;
  readonly status: GraphStatus;
  /** Null: a draft. */
  readonly version: number | null;
  /** Of a draft: name it when you save or publish, and nothing of somebody else's is written over. Null: a version. */
  readonly revision: string | null;
  /** The stored id of whom it belongs to; null: all owners share it. */
  readonly owner: string | null;
  /** Of all but names and descriptions; null: a draft. */
  readonly fingerprint: string | null;
  readonly note: string | null;
  /** Who saved or published it; null: nobody said who. */
  readonly actor: unknown;
  readonly createdAt: Date;
  /** When it was saved last; of a version, when it was published. */
  readonly savedAt: Date;
  readonly publishedAt: Date | null;
  readonly retiredAt: Date | null;
}

export interface DefinitionDetails extends DefinitionView {
  /** The graph as it was given: JSON. Of a draft it may be faulty. */
  readonly graph: unknown;
}

export function toDefinitionView(row: GraphRow): DefinitionView {
  const { id, definitionId, ownerId, status, version, fingerprint, note, actor } = row;
  return {
    id: definitionId,
    status,
    version,
    revision: version === null ? id : null,
    owner: ownerId,
    fingerprint,
    note,
    actor: decode(actor, null, `The actor of graph ${definitionId}`),
    createdAt: new Date(row.createdAt),
    savedAt: new Date(row.savedAt),
    publishedAt: row.publishedAt === null ? null : new Date(row.publishedAt),
    retiredAt: row.retiredAt === null ? null : new Date(row.retiredAt),
  };
}

export function toDefinitionDetails(row: GraphDetails): DefinitionDetails {
  return { ...toDefinitionView(row), graph: decode(row.source, null, `Graph ${row.definitionId}`) };
}
