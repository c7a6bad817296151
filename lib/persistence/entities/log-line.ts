import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instantNow, int, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A line that a stage's body wrote (OBS-3). */
export interface WorkflowLogLineEntity {
  id: string;
  runId: string;
  stageRunId: string;
  ownerId: string | null;
  attempt: number;
  level: 'log' | 'warn' | 'error';
  message: string;
  createdAt: Date;
}

export function logLineEntity(names: TableNames): EntitySchema<WorkflowLogLineEntity> {
  return workflowEntity<WorkflowLogLineEntity>(names, {
    name: 'WorkflowLogLine',
    table: 'log_lines',
    columns: {
      id: uuid('id', primary),
      runId: uuid('run_id'),
      stageRunId: uuid('stage_run_id'),
      ownerId: text('owner_id', nullable),
      attempt: int('attempt'),
      level: text('level'),
      message: text('message'),
      createdAt: instantNow('created_at'),
    },
    indices: [{ name: 'log_lines_run', columns: ['runId', 'id'] }],
  });
}
