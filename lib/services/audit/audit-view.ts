import type { AuditRow } from '../../engine/ports/index.js';
import { decode } from '../runs/decoded.js';

/** Something that was asked for. */
export interface AuditEntryView {
  readonly id: string;
  /** The operation: `cancel`, `retry`, …; `request` for a route with `@WorkflowAbility`; `replayDeadLetter`. */
  readonly action: string;
  readonly ability: string | null;
  /** Null for a route that names no run. */
  readonly runId: string | null;
  readonly owner: string | null;
  /** Who asked; null = nobody said who. One that JSON can't hold, or a large one: its `id`, and `cut`, the name of its class. */
  readonly actor: unknown;
  readonly allowed: boolean;
  /** What the caller gave; of a denial what the authorizer gave. */
  readonly reason: string | null;
  /** `POST /runs/7/cancel` within a guarded route, `run <id>` from a stage of that run, else `service` or `operator`. */
  readonly source: string;
  /** The rest: a node, a version, a signal's name; `refused` where the run was in no state for it. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export function toAuditView({ actor, details, ownerId, createdAt, ...row }: AuditRow): AuditEntryView {
  return {
    ...row,
    owner: ownerId,
    actor: decode(actor, null, `The actor of audit entry ${row.id}`),
    details: decode(details, {}, `The details of audit entry ${row.id}`) as AuditEntryView['details'],
    createdAt: new Date(createdAt),
  };
}
