import type { EntitySchema } from 'typeorm';
import type { RunStatus } from '../../engine/state/statuses.js';
import type { TableNames } from '../table-names.js';
import { bool, instant, instantNow, int, json, nullable, primary, smallint, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A run as a TypeORM entity. For reading: only the engine writes. */
export interface WorkflowRunEntity {
  id: string;
  definitionId: string;
  definitionVersion: number;
  /** `id@version#fingerprint`. */
  definitionKey: string;
  status: RunStatus;
  ownerId: string | null;
  actor: unknown;
  trace: string | null;
  generation: number;
  priority: number;
  queue: string | null;
  input: unknown;
  output: unknown;
  awaited: boolean;
  parentRunId: string | null;
  depth: number;
  /** Which step of the parent started it. */
  parentStageRunId: string | null;
  parentStep: string | null;
  /** That step waits for its end. */
  parentWaits: boolean;
  /** Its end has been delivered. */
  parentTold: boolean;
  /** Its parent ended: it is to be cancelled. */
  cancelAsked: boolean;
  failureCode: string | null;
  failureMessage: string | null;
  failureParams: unknown;
  failedNode: string | null;
  cancelReason: string | null;
  /** The business entity that it is about. */
  subjectType: string | null;
  subjectId: string | null;
  /** At its start the subject was seen to be its owner's. */
  subjectSeen: boolean;
  /** How often that was touched. */
  touches: number;
  /** Cancelled without hooks (CANCEL-4). */
  terminated: boolean;
  createdAt: Date;
  startAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** When it fails RUN_TIMEOUT unless it has ended. */
  deadlineAt: Date | null;
  version: number;
  /** Of a run that a trigger started: which, for what, through which definitions. */
  origin: unknown;
}

export function runEntity(names: TableNames): EntitySchema<WorkflowRunEntity> {
  return workflowEntity<WorkflowRunEntity>(names, {
    name: 'WorkflowRun',
    table: 'runs',
    columns: {
      id: uuid('id', primary),
      definitionId: text('definition_id'),
      definitionVersion: int('definition_version'),
      definitionKey: text('definition_key'),
      status: text('status'),
      ownerId: text('owner_id', nullable),
      actor: json('actor', nullable),
      trace: text('trace', nullable),
      generation: int('generation', { default: 1 }),
      priority: int('priority', { default: 0 }),
      queue: text('queue', nullable),
      input: json('input'),
      output: json('output', nullable),
      awaited: bool('awaited', { default: false }),
      parentRunId: uuid('parent_run_id', nullable),
      depth: smallint('depth', { default: 0 }),
      parentStageRunId: uuid('parent_stage_run_id', nullable),
      parentStep: text('parent_step', nullable),
      parentWaits: bool('parent_waits', { default: false }),
      parentTold: bool('parent_told', { default: false }),
      cancelAsked: bool('cancel_asked', { default: false }),
      failureCode: text('failure_code', nullable),
      failureMessage: text('failure_message', nullable),
      failureParams: json('failure_params', nullable),
      failedNode: text('failed_node', nullable),
      cancelReason: text('cancel_reason', nullable),
      subjectType: text('subject_type', nullable),
      subjectId: text('subject_id', nullable),
      subjectSeen: bool('subject_seen', { default: false }),
      touches: int('touches', { default: 0 }),
      terminated: bool('terminated', { default: false }),
      createdAt: instantNow('created_at'),
      startAt: instant('start_at', nullable),
      startedAt: instant('started_at', nullable),
      finishedAt: instant('finished_at', nullable),
      deadlineAt: instant('deadline_at', nullable),
      version: int('version', { default: 0 }),
      origin: json('origin', nullable),
    },
    indices: [
      { name: 'runs_owner', columns: ['ownerId', 'id'] },
      { name: 'runs_open' },
      { name: 'runs_deadline' },
      { name: 'runs_children' },
      { name: 'runs_child_ended' },
      { name: 'runs_orphans' },
      { name: 'runs_subject' },
    ],
  });
}
