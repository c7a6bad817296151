import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bigint, bool, instant, instantNow, int, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** One visit of an approval. */
export interface WorkflowApprovalRoundEntity {
  id: string;
  runId: string;
  stageRunId: string;
  ownerId: string | null;
  /** Tells it from the round that the visit had before it was retried by hand. */
  budget: number;
  node: string;
  /**
   * `open` also where time is over or its visit has ended, and nobody has looked since: `ApprovalsService.get` says what holds.
   */
  status: 'open' | 'approved' | 'rejected' | 'expired' | 'cancelled';
  /** Which stage of approval is asked, or was last, from 0. */
  stage: number;
  terms: unknown;
  requester: string | null;
  openedAt: Date;
  expiresAt: Date | null;
  endedAt: Date | null;
  endedBy: string | null;
  endReason: string | null;
  remindedAt: Date | null;
}

export function approvalRoundEntity(names: TableNames): EntitySchema<WorkflowApprovalRoundEntity> {
  return workflowEntity<WorkflowApprovalRoundEntity>(names, {
    name: 'WorkflowApprovalRound',
    table: 'approval_rounds',
    columns: {
      id: uuid('id', primary),
      runId: uuid('run_id'),
      stageRunId: uuid('stage_run_id'),
      ownerId: text('owner_id', nullable),
      budget: int('budget'),
      node: text('node'),
      status: text('status', { default: 'open' }),
      stage: int('stage', { default: 0 }),
      terms: json('terms'),
      requester: text('requester', nullable),
      openedAt: instantNow('opened_at'),
      expiresAt: instant('expires_at', nullable),
      endedAt: instant('ended_at', nullable),
      endedBy: text('ended_by', nullable),
      endReason: text('end_reason', nullable),
      remindedAt: instant('reminded_at', nullable),
    },
    indices: [{ name: 'approval_rounds_visit' }, { name: 'approval_rounds_run' }],
  });
}

/** Somebody who is asked in a round, or is to be, or was. */
export interface WorkflowApprovalAskEntity {
  roundId: string;
  stage: number;
  /** As resolved when the round was opened. */
  approver: string;
  runId: string;
  ownerId: string | null;
  place: number;
  groups: unknown;
  weight: number;
  /** Who decides for it now. */
  holder: string;
  path: unknown;
  /** It is asked now. */
  open: boolean;
}

export function approvalAskEntity(names: TableNames): EntitySchema<WorkflowApprovalAskEntity> {
  return workflowEntity<WorkflowApprovalAskEntity>(names, {
    name: 'WorkflowApprovalAsk',
    table: 'approval_asks',
    columns: {
      roundId: uuid('round_id', primary),
      stage: int('stage', primary),
      approver: text('approver', primary),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      place: int('place'),
      groups: json('groups'),
      weight: { type: 'float8', name: 'weight' },
      holder: text('holder'),
      path: json('path'),
      open: bool('open'),
    },
    indices: [{ name: 'approval_asks_holder' }],
  });
}

/** What somebody answered; withdrawn ones stay. */
export interface WorkflowApprovalDecisionEntity {
  roundId: string;
  id: string;
  runId: string;
  ownerId: string | null;
  /** As text: a bigint. In the order in which they were made. */
  nr: string;
  stage: number;
  approver: string;
  decidedBy: string;
  answer: 'approved' | 'rejected';
  reason: string | null;
  comment: string | null;
  withdrawn: boolean;
  decidedAt: Date;
}

export function approvalDecisionEntity(names: TableNames): EntitySchema<WorkflowApprovalDecisionEntity> {
  return workflowEntity<WorkflowApprovalDecisionEntity>(names, {
    name: 'WorkflowApprovalDecision',
    table: 'approval_decisions',
    columns: {
      roundId: uuid('round_id'),
      id: text('id'),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      // TypeORM knows identity columns; only its types for schemas don't.
      nr: bigint('nr', { ...primary, generated: 'identity' as 'increment' }),
      stage: int('stage'),
      approver: text('approver'),
      decidedBy: text('decided_by'),
      answer: text('answer'),
      reason: text('reason', nullable),
      comment: text('comment', nullable),
      withdrawn: bool('withdrawn', { default: false }),
      decidedAt: instantNow('decided_at'),
    },
    indices: [{ name: 'approval_decisions_id' }, { name: 'approval_decisions_seat' }],
  });
}
