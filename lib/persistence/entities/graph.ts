import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instant, instantNow, int, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A draft or a version of a graph. */
export interface WorkflowGraphEntity {
  id: string;
  /** Null: shared by all owners. */
  ownerId: string | null;
  definitionId: string;
  /** Null: a draft. */
  version: number | null;
  status: 'draft' | 'published' | 'retired';
  fingerprint: string | null;
  source: unknown;
  note: string | null;
  actor: unknown;
  createdAt: Date;
  savedAt: Date;
  publishedAt: Date | null;
  retiredAt: Date | null;
}

export function graphEntity(names: TableNames): EntitySchema<WorkflowGraphEntity> {
  return workflowEntity<WorkflowGraphEntity>(names, {
    name: 'WorkflowGraph',
    table: 'graphs',
    columns: {
      id: uuid('id', primary),
      ownerId: text('owner_id', nullable),
      definitionId: text('definition_id'),
      version: int('version', nullable),
      status: text('status'),
      fingerprint: text('fingerprint', nullable),
      source: json('source'),
      note: text('note', nullable),
      actor: json('actor', nullable),
      createdAt: instantNow('created_at'),
      savedAt: instantNow('saved_at'),
      publishedAt: instant('published_at', nullable),
      retiredAt: instant('retired_at', nullable),
    },
    indices: [
      { name: 'graphs_draft' },
      { name: 'graphs_version' },
      { name: 'graphs_owner', columns: ['ownerId', 'id'] },
    ],
  });
}
