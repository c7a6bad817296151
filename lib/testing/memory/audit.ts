import type { AuditEntry, AuditFilter, AuditRow, NewAuditRow } from '../../engine/ports/audit-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import type { MemorySession } from './session.js';
import { instant } from './views.js';

/** Something that an operator asked for. */
export type AuditRecord = NewAuditRow & { readonly createdAt: number };

/** An entry that stands already is one whose answer was lost. */
export function writeAudit({ db, now }: MemorySession, row: NewAuditRow): void {
  if (db.audit.get(row.id) === undefined) db.audit.insert({ ...row, createdAt: now });
}

export function keepAuditOf(
  session: MemorySession,
  run: { readonly id: string; readonly ownerId: string | null },
  entry: AuditEntry,
): void {
  writeAudit(session, { ...entry, runId: run.id, ownerId: run.ownerId });
}

/** Newest first. */
export function listAudit({ db }: MemorySession, filter: AuditFilter, scope: OwnerScope): AuditRow[] {
  const { runId, action, actor, before, limit } = filter;
  const found = [...db.audit.all()].filter(
    (row) =>
      ('all' in scope || row.ownerId === scope.owner) &&
      (runId === undefined || row.runId === runId) &&
      (action === undefined || row.action === action) &&
      (actor === undefined || row.actor === actor) &&
      (before === undefined || row.id < before),
  );
  found.sort((a, b) => (a.id < b.id ? 1 : -1));
  return found.slice(0, limit).map((row) => ({ ...row, createdAt: instant(row.createdAt) }));
}
