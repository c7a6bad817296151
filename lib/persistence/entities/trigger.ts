import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instant, instantNow, int, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** What starts a graph by itself (TRIG-1 to TRIG-3). */
export interface WorkflowTriggerEntity {
  /** Of a webhook its public address. */
  id: string;
  /** Null: of a graph that all owners share. */
  ownerId: string | null;
  definitionId: string;
  definitionVersion: number;
  triggerId: string;
  type: string;
  spec: unknown;
  fingerprint: string;
  eventKey: string | null;
  status: string;
  /** Of a schedule: up to here everything is done. */
  lastAt: Date | null;
  nextAt: Date | null;
  lockedUntil: Date | null;
  lastRunId: string | null;
  lastOutcome: string | null;
  lastError: string | null;
  started: number;
  passedOver: number;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export function triggerEntity(names: TableNames): EntitySchema<WorkflowTriggerEntity> {
  return workflowEntity<WorkflowTriggerEntity>(names, {
    name: 'WorkflowTrigger',
    table: 'triggers',
    columns: {
      id: uuid('id', primary),
      ownerId: text('owner_id', nullable),
      definitionId: text('definition_id'),
      definitionVersion: int('definition_version'),
      triggerId: text('trigger_id'),
      type: text('type'),
      spec: json('spec'),
      fingerprint: text('fingerprint'),
      eventKey: text('event_key', nullable),
      status: text('status', { default: 'active' }),
      lastAt: instant('last_at', nullable),
      nextAt: instant('next_at', nullable),
      lockedUntil: instant('locked_until', nullable),
      lastRunId: uuid('last_run_id', nullable),
      lastOutcome: text('last_outcome', nullable),
      lastError: text('last_error', nullable),
      started: int('started', { default: 0 }),
      passedOver: int('passed_over', { default: 0 }),
      version: int('version', { default: 0 }),
      createdAt: instantNow('created_at'),
      updatedAt: instantNow('updated_at'),
    },
    indices: [
      { name: 'triggers_name' },
      { name: 'triggers_owner', columns: ['ownerId', 'id'] },
      { name: 'triggers_due' },
      { name: 'triggers_event' },
    ],
  });
}
