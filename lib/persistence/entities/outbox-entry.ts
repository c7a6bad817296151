import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bigint, instant, instantNow, int, json, nullable, smallint, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** Events of one transition that handlers have not all had yet. */
export interface WorkflowOutboxEntity {
  /** As text: a bigint. */
  id: string;
  runId: string;
  ownerId: string | null;
  /** Hash slot of the run, 0 to 15: one relay at a time serves a slot, which keeps a run's events in order. */
  slot: number;
  events: unknown;
  /** How many of `events` are done. */
  delivered: number;
  attempts: number;
  /** 0 waiting, 1 dead letter. */
  state: 0 | 1;
  nextAt: Date | null;
  error: string | null;
  /** Of events about a definition, which no run stands behind; else null. */
  definitionId: string | null;
  definitionVersion: number | null;
  actor: unknown;
  createdAt: Date;
}

export function outboxEntity(names: TableNames): EntitySchema<WorkflowOutboxEntity> {
  return workflowEntity<WorkflowOutboxEntity>(names, {
    name: 'WorkflowOutboxEntry',
    table: 'outbox',
    columns: {
      // TypeORM knows identity columns; only its types for schemas don't.
      id: bigint('id', { primary: true, generated: 'identity' as 'increment' }),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      slot: smallint('slot'),
      events: json('events'),
      delivered: smallint('delivered', { default: 0 }),
      attempts: smallint('attempts', { default: 0 }),
      state: smallint('state', { default: 0 }),
      nextAt: instant('next_at', nullable),
      error: text('error', nullable),
      definitionId: text('definition_id', nullable),
      definitionVersion: int('definition_version', nullable),
      actor: json('actor', nullable),
      createdAt: instantNow('created_at'),
    },
    indices: [{ name: 'outbox_slot' }, { name: 'outbox_later' }],
  });
}
