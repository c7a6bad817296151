import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bool, instantNow, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** Something an operator asked for, allowed or not (AUDIT-1). */
export interface WorkflowAuditEntryEntity {
  id: string;
  ownerId: string | null;
  runId: string | null;
  action: string;
  ability: string | null;
  actor: unknown;
  allowed: boolean;
  reason: string | null;
  /** From where it was asked. */
  source: string;
  details: unknown;
  createdAt: Date;
}

export function auditEntryEntity(names: TableNames): EntitySchema<WorkflowAuditEntryEntity> {
  return workflowEntity<WorkflowAuditEntryEntity>(names, {
    name: 'WorkflowAuditEntry',
    table: 'audit',
    columns: {
      id: uuid('id', primary),
      ownerId: text('owner_id', nullable),
      runId: uuid('run_id', nullable),
      action: text('action'),
      ability: text('ability', nullable),
      actor: json('actor', nullable),
      allowed: bool('allowed'),
      reason: text('reason', nullable),
      source: text('source'),
      details: json('details', nullable),
      createdAt: instantNow('created_at'),
    },
    indices: [{ name: 'audit_owner', columns: ['ownerId', 'id'] }, { name: 'audit_run' }],
  });
}
