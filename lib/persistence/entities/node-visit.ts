import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { int, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** How many stage runs of a node's visit are still open; the one that brings it to zero settles the node. */
export interface WorkflowNodeVisitEntity {
  runId: string;
  generation: number;
  node: string;
  visit: number;
  open: number;
  ownerId: string | null;
}

export function nodeVisitEntity(names: TableNames): EntitySchema<WorkflowNodeVisitEntity> {
  return workflowEntity<WorkflowNodeVisitEntity>(names, {
    name: 'WorkflowNodeVisit',
    table: 'node_visits',
    columns: {
      runId: uuid('run_id', primary),
      generation: int('generation', primary),
      node: text('node', primary),
      visit: int('visit', primary),
      open: int('open'),
      ownerId: text('owner_id', nullable),
    },
  });
}
