import type { EntitySchema } from 'typeorm';
import type { TableNames } from '../table-names.js';
import { instant, nullable, primary, smallint, text } from './columns.js';
import { workflowEntity } from './workflow-entity.js';

/** Which relay serves a hash slot of the outbox, and until when. */
export interface WorkflowOutboxSlotEntity {
  slot: number;
  lockedBy: string | null;
  lockedUntil: Date | null;
  /** When a relay with listeners last leased it: events wait for whoever comes to hear them. */
  heardAt: Date | null;
}

export function outboxSlotEntity(names: TableNames): EntitySchema<WorkflowOutboxSlotEntity> {
  return workflowEntity<WorkflowOutboxSlotEntity>(names, {
    name: 'WorkflowOutboxSlot',
    table: 'outbox_slots',
    columns: {
      slot: smallint('slot', primary),
      lockedBy: text('locked_by', nullable),
      lockedUntil: instant('locked_until', nullable),
      heardAt: instant('heard_at', nullable),
    },
  });
}
