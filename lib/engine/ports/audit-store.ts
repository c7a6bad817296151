import type { JsonText } from '../state/rows.js';
import type { OwnerScope } from './scope.js';

/** What somebody asked for, allowed or denied (AUDIT-1). Whose and which run it is about stands beside it, or the run says so. */
export interface AuditEntry {
  /** Made by the caller: the same entry again, of a call whose answer was lost, is not written twice. */
  readonly id: string;
  /** The operation, `request` for a guarded route, `replayDeadLetter`. */
  readonly action: string;
  readonly ability: string | null;
  readonly actor: JsonText | null;
  readonly allowed: boolean;
  /** The caller's reason; of a denial the denial's. */
  readonly reason: string | null;
  /** From where it was asked. */
  readonly source: string;
  readonly details: JsonText | null;
}

export interface NewAuditRow extends AuditEntry {
  readonly ownerId: string | null;
  readonly runId: string | null;
}

export interface AuditRow extends NewAuditRow {
  /** ISO 8601, of the database's clock. */
  readonly createdAt: string;
}

export interface AuditFilter {
  readonly runId?: string;
  readonly action?: string;
  /** The very JSON text that was stored. */
  readonly actor?: JsonText;
  /** Rows before this id (they are listed newest first): the last id of the page before. */
  readonly before?: string;
  readonly limit: number;
}

export interface AuditStore {
  /** Keeps what was asked for by itself: what goes with a change is written by the change (`ChangeOptions.audit`). */
  writeAudit(rows: readonly NewAuditRow[]): Promise<void>;
  /** Newest first, within the scope. Rows outlive their runs. */
  listAudit(filter: AuditFilter, scope: OwnerScope): Promise<AuditRow[]>;
}
