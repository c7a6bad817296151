import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bigint, instant, instantNow, int, nullable, primary, smallint, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** Work to be done, as a TypeORM entity. For reading: a job changed by hand no longer matches its stage run. */
export interface WorkflowJobEntity {
  id: string;
  /** 0 executes a stage, 1 calls its cancel hook. */
  kind: 0 | 1;
  runId: string;
  stageRunId: string;
  ownerId: string | null;
  definitionKey: string;
  queue: string;
  /** Higher goes first. */
  priority: number;
  runAt: Date;
  /** 0 due, 1 claimed, 2 delayed, 3 given to an external transport. */
  state: 0 | 1 | 2 | 3;
  lockedBy: string | null;
  lockedAt: Date | null;
  startedAt: Date | null;
  claimToken: string | null;
  attempt: number;
  /** Raises `lease.absoluteTimeout`; milliseconds, as text. */
  capMs: string | null;
  /** When it was last given to an external transport. */
  sentAt: Date | null;
  createdAt: Date;
}

export function jobEntity(names: TableNames): EntitySchema<WorkflowJobEntity> {
  return workflowEntity<WorkflowJobEntity>(names, {
    name: 'WorkflowJob',
    table: 'jobs',
    columns: {
      id: uuid('id', primary),
      kind: smallint('kind', { default: 0 }),
      runId: uuid('run_id'),
      stageRunId: uuid('stage_run_id'),
      ownerId: text('owner_id', nullable),
      definitionKey: text('definition_key'),
      queue: text('queue'),
      priority: int('priority', { default: 0 }),
      runAt: instantNow('run_at'),
      state: smallint('state', { default: 0 }),
      lockedBy: text('locked_by', nullable),
      lockedAt: instant('locked_at', nullable),
      startedAt: instant('started_at', nullable),
      claimToken: uuid('claim_token', nullable),
      attempt: int('attempt', { default: 0 }),
      capMs: bigint('cap_ms', nullable),
      sentAt: instant('sent_at', nullable),
      createdAt: instantNow('created_at'),
    },
    indices: [
      { name: 'jobs_due' },
      { name: 'jobs_claimed' },
      { name: 'jobs_delayed' },
      { name: 'jobs_sent' },
      { name: 'jobs_run', columns: ['runId'] },
    ],
  });
}
