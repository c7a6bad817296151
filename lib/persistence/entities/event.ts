import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bool, bytes, instantNow, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** An event that was emitted, or a signal to one run, kept for waits that come later. */
export interface WorkflowEventEntity {
  id: string;
  ownerId: string | null;
  /** Of a signal: its run. */
  runId: string | null;
  key: string;
  subjectType: string | null;
  subjectId: string | null;
  payload: unknown;
  messageDigest: Buffer | null;
  /** Waits that were there before it have been looked through. */
  matched: boolean;
  /** Of a signal: a wait had it. */
  taken: boolean;
  createdAt: Date;
  /** The run that told of it, and on whose behalf. */
  source: unknown;
}

export function eventEntity(names: TableNames): EntitySchema<WorkflowEventEntity> {
  return workflowEntity<WorkflowEventEntity>(names, {
    name: 'WorkflowEvent',
    table: 'events',
    columns: {
      id: uuid('id', primary),
      ownerId: text('owner_id', nullable),
      runId: uuid('run_id', nullable),
      key: text('key'),
      subjectType: text('subject_type', nullable),
      subjectId: text('subject_id', nullable),
      payload: json('payload', nullable),
      messageDigest: bytes('message_digest', nullable),
      matched: bool('matched', { default: false }),
      taken: bool('taken', { default: false }),
      createdAt: instantNow('created_at'),
      source: json('source', nullable),
    },
    indices: [
      { name: 'events_key' },
      { name: 'events_subject' },
      { name: 'events_run' },
      { name: 'events_message' },
      { name: 'events_unmatched' },
      { name: 'events_created', columns: ['createdAt'] },
    ],
  });
}
