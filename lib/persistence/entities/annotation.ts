import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instantNow, int, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A fact about a run or a stage, written with the outcome of the attempt that noted it (ANN-1). */
export interface WorkflowAnnotationEntity {
  id: string;
  runId: string;
  stageRunId: string | null;
  ownerId: string | null;
  key: string;
  value: unknown;
  scope: 'run' | 'stage';
  actor: unknown;
  attempt: number | null;
  createdAt: Date;
}

export function annotationEntity(names: TableNames): EntitySchema<WorkflowAnnotationEntity> {
  return workflowEntity<WorkflowAnnotationEntity>(names, {
    name: 'WorkflowAnnotation',
    table: 'annotations',
    columns: {
      id: uuid('id', primary),
      runId: uuid('run_id'),
      stageRunId: uuid('stage_run_id', nullable),
      ownerId: text('owner_id', nullable),
      key: text('key'),
      value: json('value'),
      scope: text('scope'),
      actor: json('actor', nullable),
      attempt: int('attempt', nullable),
      createdAt: instantNow('created_at'),
    },
    indices: [{ name: 'annotations_run', columns: ['runId', 'id'] }],
  });
}
