import type { NewEvent } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, OPEN_RUN, OPEN_STAGE_RUN, sameOwner } from '../sql.js';
import { lyingSignals } from './lying-signals.js';
import { inScope, type ScopeKind } from './read-statements.js';
import { resumeStageRuns } from './resume.js';

/** The run that a signal is for, locked: a suspend of one of its stages sees the signal, or the signal sees the wait. $1 owner, $2 run id. */
export function lockSignalled(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `lock-signalled-${kind}`,
    text: `SELECT r.owner_id AS "ownerId" FROM ${t.runs} r WHERE r.id = $2::uuid AND ${inScope(kind)} FOR NO KEY UPDATE`,
  };
}

export interface SignalAnswer {
  /** Its run has not ended. */
  open: boolean;
  /** Id of a row that stood already: of this very call, or of the same message. */
  known: string | null;
  known_taken: boolean;
  stored: boolean;
  delivered: boolean;
}

/**
 * Keeps a signal of a run whose lock is held, and gives it to the wait for that name that was awaited last. A statement of its own
 * after the lock: in its snapshot, waits that a suspend wrote while the lock was waited for are there.
 *
 * Only waits of stages that have not ended: what a stage left open when it moved on is nobody's. Signals of that name that lie there go first: a wait that was opened while its stage ran has not looked for them. The row of a
 * signal that finds its wait is taken from the start. Nothing is written for a run that has ended, nor for a message
 * that came before, not even if its run has ended since. $1 offset ms, $2 id, $3 name,
 * $4 subject type, $5 subject id, $6 payload, $7 message digest, $8 run id.
 */
export function sendSignal(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'send-signal',
    text: `
    WITH known AS MATERIALIZED (
      SELECT id, taken FROM ${t.events} WHERE id = $2::uuid UNION ALL SELECT id, taken FROM ${t.events} WHERE message_digest = $7::bytea),
    r AS MATERIALIZED (
      SELECT id, owner_id FROM ${t.runs} WHERE id = $8::uuid AND status IN ${OPEN_RUN} AND NOT EXISTS (SELECT 1 FROM known)),
    waits AS MATERIALIZED (
      SELECT s.* FROM ${t.steps} s JOIN r ON r.id = s.run_id AND ${sameOwner('r', 's')} JOIN ${t.stageRuns} g ON g.id = s.stage_run_id AND g.status IN ${OPEN_STAGE_RUN}
       WHERE s.open AND s.kind = 'signal' AND s.event_key = $3::text FOR NO KEY UPDATE OF s),
    ${lyingSignals(t, 'waits', now)},
    mine AS MATERIALIZED (
      SELECT w.stage_run_id, w.key FROM signal_waits w
       WHERE w.place = 1 + (SELECT count(*) FROM ${t.events} e JOIN r ON r.id = e.run_id AND ${sameOwner('r', 'e')} WHERE e.run_id = $8::uuid AND e.key = $3::text AND NOT e.taken)
         AND (w.expires_at IS NULL OR w.expires_at > ${now})),
    e AS (
      INSERT INTO ${t.events} (id, owner_id, run_id, key, subject_type, subject_id, payload, message_digest, taken, created_at)
      SELECT $2::uuid, r.owner_id, r.id, $3::text, $4::text, $5::text, $6::json, $7::bytea, EXISTS (SELECT 1 FROM mine), ${now} FROM r
          ON CONFLICT DO NOTHING RETURNING id, payload),
    given AS (
      SELECT stage_run_id, key, id, payload FROM signals UNION ALL SELECT mine.stage_run_id, mine.key, e.id, e.payload FROM mine CROSS JOIN e),
    f AS (
      UPDATE ${t.steps} s SET status = 'completed', open = false, result = x.payload, event_id = x.id, fired_at = ${now}
        FROM given x WHERE s.stage_run_id = x.stage_run_id AND s.key = x.key RETURNING s.stage_run_id, s.run_id, s.owner_id),
    ${resumeStageRuns(t, 'f')}
    SELECT EXISTS (SELECT 1 FROM ${t.runs} WHERE id = $8::uuid AND status IN ${OPEN_RUN}) AS open, known.id::text AS known, coalesce(known.taken, false) AS known_taken, EXISTS (SELECT 1 FROM e) AS stored, EXISTS (SELECT 1 FROM mine CROSS JOIN e) AS delivered
      FROM (SELECT 1) one LEFT JOIN known ON true LIMIT 1`,
  };
}

/** Whose it is, its run says. */
export const signalValues = ({ id, key, subject, payload, messageDigest }: NewEvent): unknown[] => [
  id,
  key,
  subject?.type ?? null,
  subject?.id ?? null,
  payload,
  messageDigest,
];
