import type {
  AuditEntry,
  AuditFilter,
  AuditRow,
  AuditStore,
  NewAuditRow,
  OwnerScope,
} from '../../engine/ports/index.js';
import { auditRows } from '../dialects/postgres/statements/audit-statements.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import type { TransactionQuery } from '../engine-pool.js';
import type { StoreContext } from './store-context.js';

/** What operators asked for. */
export class PostgresAudit implements AuditStore {
  constructor(private readonly context: StoreContext) {}

  async writeAudit(rows: readonly NewAuditRow[]): Promise<void> {
    await keepAudit(this.context, (statement, values) => this.context.pool.query(statement, values), rows);
  }

  async listAudit({ runId, action, actor, before, limit }: AuditFilter, scope: OwnerScope): Promise<AuditRow[]> {
    const { sessions, statements } = this.context;
    const list = runId === undefined ? statements.listAudit : statements.listAuditOfRun;
    const values = [scopeValue(scope), runId, action, actor, before, limit];
    return sessions.run(scope, (query) => query<AuditRow>(list[scopeKind(scope)], values));
  }
}

/** As a part of the transaction that `query` is of. */
export async function keepAudit(
  { statements, clock }: StoreContext,
  query: TransactionQuery,
  rows: readonly NewAuditRow[],
): Promise<void> {
  if (rows.length > 0) await query(statements.writeAudit, [clock.offsetMs, ...auditRows.values(rows)]);
}

/** An entry about a run, which says whose it is. */
export const ofRun = (entry: AuditEntry, runId: string, ownerId: string | null): NewAuditRow => ({
  ...entry,
  runId,
  ownerId,
});
