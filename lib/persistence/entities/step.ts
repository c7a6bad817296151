import type { EntitySchema } from 'typeorm';
import type { StepKind, StepStatus } from '../../engine/ports/index.js';
import type { TableNames } from '../table-names.js';
import { bool, instant, instantNow, int, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** What a step came to, or what a stage waits for. For reading: a row changed by hand may never end its wait. */
export interface WorkflowStepEntity {
  stageRunId: string;
  /** Scope, name and occurrence. */
  key: string;
  runId: string;
  ownerId: string | null;
  kind: StepKind;
  status: StepStatus;
  /** It is a wait that nothing has ended yet. */
  open: boolean;
  /** Place in the order in which outcomes reach the body. */
  seq: number | null;
  attempt: number;
  result: unknown;
  failure: unknown;
  timedOut: boolean;
  reopened: boolean;
  token: string | null;
  leaseUntil: Date | null;
  dueAt: Date | null;
  /** The wait's own limit. */
  expiresAt: Date | null;
  eventKey: string | null;
  subjectType: string | null;
  subjectId: string | null;
  condition: string | null;
  epoch: number;
  /** Events that were there before the wait have been looked through. */
  checked: boolean;
  eventId: string | null;
  childRunId: string | null;
  state: unknown;
  createdAt: Date;
  /** When its outcome came. */
  firedAt: Date | null;
}

export function stepEntity(names: TableNames): EntitySchema<WorkflowStepEntity> {
  return workflowEntity<WorkflowStepEntity>(names, {
    name: 'WorkflowStep',
    table: 'steps',
    columns: {
      stageRunId: uuid('stage_run_id', primary),
      key: text('key', primary),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      kind: text('kind'),
      status: text('status'),
      open: bool('open', { default: false }),
      seq: int('seq', nullable),
      attempt: int('attempt', { default: 0 }),
      result: json('result', nullable),
      failure: json('failure', nullable),
      timedOut: bool('timed_out', { default: false }),
      reopened: bool('reopened', { default: false }),
      token: uuid('token', nullable),
      leaseUntil: instant('lease_until', nullable),
      dueAt: instant('due_at', nullable),
      expiresAt: instant('expires_at', nullable),
      eventKey: text('event_key', nullable),
      subjectType: text('subject_type', nullable),
      subjectId: text('subject_id', nullable),
      condition: text('condition', nullable),
      epoch: int('epoch', { default: 0 }),
      checked: bool('checked', { default: false }),
      eventId: uuid('event_id', nullable),
      childRunId: uuid('child_run_id', nullable),
      state: json('state', nullable),
      createdAt: instantNow('created_at'),
      firedAt: instant('fired_at', nullable),
    },
    indices: [
      { name: 'steps_due' },
      { name: 'steps_event_due' },
      { name: 'steps_event' },
      { name: 'steps_event_id' },
      { name: 'steps_unchecked' },
      { name: 'steps_run' },
    ],
  });
}
