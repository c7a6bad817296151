import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instantNow, int, json, primary, text } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A structure that some build has served. */
export interface WorkflowDefinitionEntity {
  id: string;
  version: number;
  fingerprint: string;
  structure: unknown;
  createdAt: Date;
}

export function definitionEntity(names: TableNames): EntitySchema<WorkflowDefinitionEntity> {
  return workflowEntity<WorkflowDefinitionEntity>(names, {
    name: 'WorkflowDefinition',
    table: 'definitions',
    columns: {
      id: text('id', primary),
      version: int('version', primary),
      fingerprint: text('fingerprint', primary),
      structure: json('structure'),
      createdAt: instantNow('created_at'),
    },
  });
}
