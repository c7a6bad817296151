import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bigint, instant, instantNow, int, json, nullable, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A failed or lost attempt (FAIL-2); an attempt that succeeded is the stage run itself. */
export interface WorkflowAttemptEntity {
  id: string;
  runId: string;
  ownerId: string | null;
  stageRunId: string;
  attempt: number;
  workerId: string | null;
  startedAt: Date | null;
  endedAt: Date;
  /** Milliseconds, as text. */
  durationMs: string | null;
  code: string;
  message: string;
  stack: string | null;
  cause: unknown;
}

export function attemptEntity(names: TableNames): EntitySchema<WorkflowAttemptEntity> {
  return workflowEntity<WorkflowAttemptEntity>(names, {
    name: 'WorkflowAttempt',
    table: 'attempts',
    columns: {
      // Not `generated: 'uuid'`: TypeORM would then create an extension in the host's database.
      id: uuid('id', { primary: true, default: () => 'gen_random_uuid()' }),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      stageRunId: uuid('stage_run_id'),
      attempt: int('attempt'),
      workerId: text('worker_id', nullable),
      startedAt: instant('started_at', nullable),
      endedAt: instantNow('ended_at'),
      durationMs: bigint('duration_ms', nullable),
      code: text('code'),
      message: text('message'),
      stack: text('stack', nullable),
      cause: json('cause', nullable),
    },
    indices: [{ name: 'attempts_run', columns: ['runId'] }],
  });
}
