import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { bytes, instant, instantNow, json, nullable, primary, text, uuid } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** A start key or an effect key that lives: kept as a digest, never as the text the caller gave. */
export interface WorkflowIdempotencyKeyEntity {
  digest: Buffer;
  scope: string;
  runId: string;
  ownerId: string | null;
  inputDigest: Buffer | null;
  createdAt: Date;
  /** Null: it lives as long as its run. */
  expiresAt: Date | null;
  /** What the effect came to. */
  result: unknown;
}

export function idempotencyKeyEntity(names: TableNames): EntitySchema<WorkflowIdempotencyKeyEntity> {
  return workflowEntity<WorkflowIdempotencyKeyEntity>(names, {
    name: 'WorkflowIdempotencyKey',
    table: 'idempotency_keys',
    columns: {
      digest: bytes('digest', primary),
      scope: text('scope', { default: 'start' }),
      runId: uuid('run_id'),
      ownerId: text('owner_id', nullable),
      inputDigest: bytes('input_digest', nullable),
      createdAt: instantNow('created_at'),
      expiresAt: instant('expires_at', nullable),
      result: json('result', nullable),
    },
    indices: [{ name: 'idempotency_keys_expires', columns: ['expiresAt'] }],
  });
}
