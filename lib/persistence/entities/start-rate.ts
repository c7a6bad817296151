import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instant, int, primary, text } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** Starts of a definition within a minute, where it has a rate (LIMIT-3). */
export interface WorkflowStartRateEntity {
  definitionId: string;
  minute: Date;
  starts: number;
}

export function startRateEntity(names: TableNames): EntitySchema<WorkflowStartRateEntity> {
  return workflowEntity<WorkflowStartRateEntity>(names, {
    name: 'WorkflowStartRate',
    table: 'start_rates',
    columns: {
      definitionId: text('definition_id', primary),
      minute: instant('minute', primary),
      starts: int('starts'),
    },
  });
}
