import type { NewAuditRow } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, isoText } from '../sql.js';
import { inScope, type ScopeKind } from './read-statements.js';

/** Unquoted in SQL, where letters have one case. */
export const auditRows = new RowSet<NewAuditRow>({
  id: 'uuid',
  ownerId: 'text',
  runId: 'uuid',
  action: 'text',
  ability: 'text',
  actor: 'json',
  allowed: 'boolean',
  reason: 'text',
  source: 'text',
  details: 'json',
});

/**
 * Keeps what was asked for. An entry that stands already is one whose answer was lost. Locks nothing: a denial is kept whatever the
 * caller's transaction holds. $1 offset ms, $2 to $11 the rows.
 */
export function writeAudit(t: TableNames): Statement {
  return {
    name: 'write-audit',
    text: `
    INSERT INTO ${t.audit} (id, owner_id, run_id, action, ability, actor, allowed, reason, source, details, created_at)
    SELECT x.id, x.ownerId, x.runId, x.action, x.ability, x.actor, x.allowed, x.reason, x.source, x.details, ${clock('$1')}
      FROM ${auditRows.source('x', 2)} ON CONFLICT (id) DO NOTHING`,
  };
}

const PAGE = `
    SELECT r.id, r.owner_id AS "ownerId", r.run_id AS "runId", r.action, r.ability, r.actor::text AS actor, r.allowed, r.reason, r.source,
           r.details::text AS details, ${isoText('r.created_at')} AS "createdAt"`;

const WANTED = `($3::text IS NULL OR r.action = $3) AND ($4::text IS NULL OR r.actor::text = $4) AND ($5::uuid IS NULL OR r.id < $5)`;

/** A page, newest first, by the index of the owner. $1 owner, $2 null, $3 action, $4 actor, $5 before id, $6 limit. */
export function listAudit(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `list-audit-${kind}`,
    text: `${PAGE} FROM ${t.audit} r WHERE ${inScope(kind)} AND $2::uuid IS NULL AND ${WANTED} ORDER BY r.id DESC LIMIT $6`,
  };
}

/** The same of one run, by its index: another plan, so another text. $2 run id. */
export function listAuditOfRun(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `list-audit-of-run-${kind}`,
    text: `${PAGE} FROM ${t.audit} r WHERE r.run_id = $2::uuid AND ${inScope(kind)} AND ${WANTED} ORDER BY r.id DESC LIMIT $6`,
  };
}
