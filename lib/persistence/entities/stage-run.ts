import type { EntitySchema } from 'typeorm';
import type { StageRunStatus } from '../../engine/state/statuses.js';
import type { TableNames } from '../table-names.js';
import { bigint, bool, instant, instantNow, int, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A stage run as a TypeORM entity. For reading: only the engine writes. */
export interface WorkflowStageRunEntity {
  id: string;
  runId: string;
  ownerId: string | null;
  generation: number;
  node: string;
  /** Index of the node in its definition. */
  position: number;
  key: string;
  stage: string;
  visit: number;
  /** The how-manieth stage run of its run, from 1. */
  ordinal: number;
  status: StageRunStatus;
  attempt: number;
  /** Attempts that no longer count: a manual retry renewed the budget. */
  budgetFrom: number;
  losses: number;
  deferrals: number;
  requeues: number;
  claimToken: string | null;
  workerId: string | null;
  output: unknown;
  /** Which way a node of a graph went on. */
  outcome: string | null;
  skipReason: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  version: number;
  /** Of one that waits: queue and cap of the job it gets when it goes on. */
  queue: string | null;
  /** Milliseconds, as text. */
  capMs: string | null;
  /** It goes on after a wait: its next claim is no new attempt. */
  resumed: boolean;
  /** How often it went on after a wait. */
  resumes: number;
  /** What its body reported last. */
  progress: unknown;
}

export function stageRunEntity(names: TableNames): EntitySchema<WorkflowStageRunEntity> {
  return workflowEntity<WorkflowStageRunEntity>(names, {
    name: 'WorkflowStageRun',
    table: 'stage_runs',
    columns: {
      id: uuid('id', primary),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      generation: int('generation', { default: 1 }),
      node: text('node'),
      position: int('position'),
      key: text('key'),
      stage: text('stage'),
      visit: int('visit', { default: 1 }),
      ordinal: int('ordinal'),
      status: text('status'),
      attempt: int('attempt', { default: 0 }),
      budgetFrom: int('budget_from', { default: 0 }),
      losses: int('losses', { default: 0 }),
      deferrals: int('deferrals', { default: 0 }),
      requeues: int('requeues', { default: 0 }),
      claimToken: uuid('claim_token', nullable),
      workerId: text('worker_id', nullable),
      output: json('output', nullable),
      skipReason: text('skip_reason', nullable),
      errorCode: text('error_code', nullable),
      errorMessage: text('error_message', nullable),
      createdAt: instantNow('created_at'),
      startedAt: instant('started_at', nullable),
      finishedAt: instant('finished_at', nullable),
      version: int('version', { default: 0 }),
      queue: text('queue', nullable),
      capMs: bigint('cap_ms', nullable),
      resumed: bool('resumed', { default: false }),
      resumes: int('resumes', { default: 0 }),
      progress: json('progress', nullable),
      outcome: text('outcome', nullable),
    },
    indices: [{ name: 'stage_runs_run', columns: ['runId'] }],
  });
}
