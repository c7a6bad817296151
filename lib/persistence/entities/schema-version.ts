import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instantNow, int, primary, text } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A migration that was applied. */
export interface WorkflowSchemaVersionEntity {
  version: number;
  name: string;
  appliedAt: Date;
}

export function schemaVersionEntity(names: TableNames): EntitySchema<WorkflowSchemaVersionEntity> {
  return workflowEntity<WorkflowSchemaVersionEntity>(names, {
    name: 'WorkflowSchemaVersion',
    table: 'schema_versions',
    columns: {
      version: int('version', primary),
      name: text('name'),
      appliedAt: instantNow('applied_at'),
    },
  });
}
