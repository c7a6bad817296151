import type { StepVerdict, StepWrite } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, milliseconds, sameOwner } from '../sql.js';
import { openWaits, waitRow, waitRows } from './open-waits.js';
import { orderRow, orderRows } from './step-orders.js';
import { FORGED_ARE_GONE, removeForged } from './forged-steps.js';
import { hasOutcome, heldByAnother, triesOf } from './step-state.js';

/** A write, without its waits and orders. */
interface HeadRow {
  /** b begin, f finish, w wait. */
  op: 'b' | 'f' | 'w';
  sid: string;
  token: string;
  key: string | null;
  kind: string | null;
  /** Status that the row gets. */
  goal: string | null;
  lease: number | null;
  begun: boolean;
  result: string | null;
  failure: string | null;
  delay: number | null;
  seq: number | null;
  effect: string | null;
}

const headRows = new RowSet<HeadRow>({
  op: 'text',
  sid: 'uuid',
  token: 'uuid',
  key: 'text',
  kind: 'text',
  goal: 'text',
  lease: 'float8',
  begun: 'boolean',
  result: 'json',
  failure: 'json',
  delay: 'float8',
  seq: 'int',
  effect: 'bytea',
});

export interface StepAnswer {
  verdict: StepVerdict;
}

/**
 * Writes the ledger for any number of attempts: one statement, one commit, and no lock is waited for.
 *
 * `h` is the fence: a plain read, no lock on stage run or run, for a body may begin only while its attempt lives, but nothing
 * worse follows if that ends in the same instant: its row has a lease of its own. A wait that is opened holds both (`held`), so that
 * whatever ends the stage or the run sees it; who is ending them makes it `busy`. `row` locks what stands, SKIP LOCKED: a write any of
 * whose rows somebody else holds is `busy` and writes nothing. A row that was inserted after the snapshot shows by its
 * key's conflict and is `busy` too. No two writes of one call may name the same row, nor one write a row twice: a statement
 * changes a row once.
 *
 * A body whose attempt is over ends without a place, and makes a replay's wait for its lease due (`lease_waits`). Its suspend
 * locks running rows: either sees the other. One that somebody holds is left to them: they end it, or the run; if they then
 * don't (a host rolls its cancel back), it comes due when the lease would have been over.
 *
 * Rows that somebody forged under a key are removed by the write that needs it. $1 offset ms.
 */
export function writeSteps(t: TableNames): Statement {
  const now = clock('$1');
  const second = 2 + headRows.width;
  const third = second + waitRows.width;
  return {
    name: 'write-steps',
    text: `
    WITH h AS MATERIALIZED (
      SELECT x.*, s.run_id, s.owner_id, coalesce(s.claim_token = x.token, false) AS holder,
             coalesce(s.claim_token = x.token AND s.status = 'RUNNING' AND r.status = 'RUNNING', false) AS ok
        FROM ${headRows.source('x', 2)} LEFT JOIN ${t.stageRuns} s ON s.id = x.sid LEFT JOIN ${t.runs} r ON r.id = s.run_id),
    held AS MATERIALIZED (
      SELECT h.nr, s.claim_token = h.token AND s.status = 'RUNNING' AND r.status = 'RUNNING' AS ok
        FROM h JOIN ${t.stageRuns} s ON s.id = h.sid JOIN ${t.runs} r ON r.id = s.run_id WHERE h.op = 'w' AND h.ok FOR SHARE OF s, r SKIP LOCKED),
    v AS MATERIALIZED (SELECT v.*, h.sid, h.run_id, h.owner_id, h.token FROM ${waitRows.source('v', second)} JOIN h ON h.nr = v.w AND h.ok),
    o AS MATERIALIZED (SELECT o.w, o.key, o.seq, h.sid, h.owner_id FROM ${orderRows.source('o', third)} JOIN h ON h.nr = o.w AND h.holder),
    named AS MATERIALIZED (
      SELECT nr AS w, sid, key, owner_id FROM h WHERE key IS NOT NULL UNION ALL SELECT w, sid, key, owner_id FROM v UNION ALL SELECT w, sid, key, owner_id FROM o),
    had AS MATERIALIZED (
      SELECT s.stage_run_id, s.key, s.kind, s.status, s.reopened, s.token, s.lease_until, s.due_at, NOT (${sameOwner('s', 'n')}) AS forged
        FROM named n JOIN ${t.steps} s ON s.stage_run_id = n.sid AND s.key = n.key FOR NO KEY UPDATE OF s SKIP LOCKED),
    row AS MATERIALIZED (SELECT * FROM had WHERE NOT forged),
    ${removeForged(t)},
    barred AS MATERIALIZED (
      SELECT DISTINCT n.w FROM named n JOIN ${t.steps} s ON s.stage_run_id = n.sid AND s.key = n.key
        LEFT JOIN had ON had.stage_run_id = n.sid AND had.key = n.key WHERE had.key IS NULL),
    j AS MATERIALIZED (
      SELECT h.*, row.key IS NOT NULL AS there,
             CASE WHEN NOT h.ok AND NOT h.begun THEN 'not-fenced'
                  WHEN h.nr IN (SELECT w FROM barred) OR h.op = 'w' AND held.nr IS NULL THEN 'busy'
                  WHEN h.op = 'w' AND NOT held.ok THEN 'not-fenced'
                  WHEN h.begun AND row.status = 'running' AND row.token = h.token THEN 'written'
                  WHEN ${hasOutcome('row')} THEN 'settled'
                  WHEN h.begun AND h.goal = 'waiting' AND row.status IN ('waiting', 'ready') AND row.token = h.token THEN 'repeated'
                  WHEN h.begun THEN 'not-fenced'
                  WHEN ${heldByAnother('row', 'h.token', now)} THEN 'held'
                  WHEN h.op = 'b' AND row.status = 'waiting' AND NOT (row.kind IN ('run', 'once') AND (row.token = h.token OR row.due_at <= ${now})) THEN 'held'
                  ELSE 'written' END AS verdict
        FROM h LEFT JOIN held ON held.nr = h.nr LEFT JOIN row ON row.stage_run_id = h.sid AND row.key = h.key
       WHERE ${FORGED_ARE_GONE}),
    changed AS (
      UPDATE ${t.steps} s SET status = j.goal, open = j.goal = 'waiting', kind = CASE WHEN j.begun THEN s.kind ELSE j.kind END,
             token = CASE WHEN j.op = 'b' OR j.kind = 'transaction' THEN j.token ELSE s.token END, lease_until = ${now} + ${milliseconds('j.lease')},
             attempt = CASE WHEN j.begun THEN s.attempt ELSE ${triesOf('s')} + (j.op = 'b' OR j.kind IN ('poll', 'transaction'))::int END,
             reopened = false, seq = CASE WHEN j.holder THEN j.seq END,
             result = CASE WHEN j.goal = 'completed' THEN j.result ELSE s.result END,
             failure = CASE WHEN j.goal = 'completed' OR s.reopened THEN j.failure ELSE coalesce(j.failure, s.failure) END,
             due_at = CASE j.goal WHEN 'running' THEN NULL WHEN 'waiting' THEN least(${now} + ${milliseconds('j.delay')}, s.expires_at) ELSE s.due_at END,
             fired_at = CASE WHEN j.goal IN ('completed', 'failed') THEN ${now} END
        FROM j WHERE j.verdict = 'written' AND j.there AND s.stage_run_id = j.sid AND s.key = j.key),
    made AS (
      INSERT INTO ${t.steps} (stage_run_id, key, run_id, owner_id, kind, status, open, token, lease_until, attempt, seq, result, failure, due_at, created_at, fired_at)
      SELECT sid, key, run_id, owner_id, kind, goal, goal = 'waiting', CASE WHEN op = 'b' OR kind = 'transaction' THEN token END, ${now} + ${milliseconds('lease')},
             (op = 'b' OR kind IN ('poll', 'transaction'))::int, seq, result, failure, ${now} + ${milliseconds('delay')}, ${now}, CASE WHEN goal IN ('completed', 'failed') THEN ${now} END
        FROM j WHERE verdict = 'written' AND op <> 'w' AND NOT there ORDER BY sid, key
          ON CONFLICT (stage_run_id, key) DO NOTHING RETURNING stage_run_id, key),
    vs AS MATERIALIZED (
      SELECT v.*, row.key IS NOT NULL AS there, coalesce(${hasOutcome('row')}, false) AS settled, coalesce(${heldByAnother('row', 'v.token', now)}, false) AS held
        FROM v JOIN j ON j.nr = v.w AND j.verdict = 'written' LEFT JOIN row ON row.stage_run_id = v.sid AND row.key = v.key),
    opening AS MATERIALIZED (SELECT * FROM vs WHERE NOT settled AND NOT held),
    ${openWaits(t, 'opening', now)},
    placed AS (
      UPDATE ${t.steps} s SET seq = o.seq FROM o WHERE o.w NOT IN (SELECT w FROM barred) AND s.stage_run_id = o.sid AND s.key = o.key),
    kept AS (
      INSERT INTO ${t.idempotencyKeys} AS held (digest, scope, run_id, owner_id, result, created_at)
      SELECT effect, 'effect', run_id, owner_id, result, ${now} FROM j WHERE verdict = 'written' AND goal = 'completed' AND effect IS NOT NULL ORDER BY effect
          ON CONFLICT (digest) DO UPDATE SET scope = EXCLUDED.scope, run_id = EXCLUDED.run_id, owner_id = EXCLUDED.owner_id, result = EXCLUDED.result, expires_at = NULL
       WHERE held.owner_id IS DISTINCT FROM EXCLUDED.owner_id),
    lease_waits AS MATERIALIZED (
      SELECT s.stage_run_id, s.key FROM ${t.steps} s JOIN j ON s.run_id = j.run_id AND s.stage_run_id = j.sid
       WHERE j.begun AND j.verdict = 'written' AND (NOT j.holder OR j.seq IS NULL AND j.goal <> 'waiting') AND s.open AND s.kind = 'lease' AND ${sameOwner('s', 'j')}
         AND (s.stage_run_id, s.key) NOT IN (SELECT sid, key FROM named) FOR NO KEY UPDATE OF s SKIP LOCKED),
    freed AS (UPDATE ${t.steps} s SET due_at = ${now} FROM lease_waits l WHERE s.stage_run_id = l.stage_run_id AND s.key = l.key)
    SELECT CASE WHEN j.verdict = 'repeated' THEN 'written'
                WHEN j.verdict <> 'written' THEN j.verdict
                WHEN j.op <> 'w' THEN CASE WHEN j.there OR EXISTS (SELECT 1 FROM made m WHERE m.stage_run_id = j.sid AND m.key = j.key) THEN 'written' ELSE 'busy' END
                WHEN EXISTS (SELECT 1 FROM opening x WHERE x.w = j.nr AND NOT x.there
                               AND NOT EXISTS (SELECT 1 FROM waits_new n WHERE n.stage_run_id = x.sid AND n.key = x.key)) THEN 'busy'
                WHEN EXISTS (SELECT 1 FROM vs WHERE vs.w = j.nr) AND NOT EXISTS (SELECT 1 FROM vs WHERE vs.w = j.nr AND NOT vs.settled) THEN 'settled'
                ELSE 'written' END AS verdict
      FROM j ORDER BY j.nr`,
  };
}

export function stepValues(offsetMs: number, writes: readonly StepWrite[]): unknown[] {
  return [
    offsetMs,
    ...headRows.values(writes.map(headRow)),
    ...waitRows.values(
      writes.flatMap((write, index) =>
        write.op === 'wait' ? write.waits.map((wait) => waitRow(index + 1, wait)) : [],
      ),
    ),
    ...orderRows.values(writes.flatMap(({ orders }, index) => orders.map((order) => orderRow(index + 1, order)))),
  ];
}

function headRow(write: StepWrite): HeadRow {
  const { stageRunId: sid, token } = write.lease;
  // Each column is here, since those that a literal adds to a spread are slow.
  const row = {
    sid,
    token,
    op: '',
    key: null,
    kind: null,
    goal: null,
    lease: null,
    begun: false,
    result: null,
    failure: null,
    delay: null,
    seq: null,
    effect: null,
  };
  switch (write.op) {
    case 'begin':
      return { ...row, op: 'b', key: write.key, kind: write.kind, goal: 'running', lease: write.leaseMs };
    case 'wait':
      return { ...row, op: 'w' };
    case 'finish': {
      const { key, kind, begun, outcome, effect } = write;
      const goal = outcome.kind === 'again' ? 'waiting' : outcome.kind;
      return {
        ...row,
        op: 'f',
        key,
        kind,
        goal,
        begun,
        result: outcome.kind === 'completed' ? outcome.result : null,
        failure: outcome.kind === 'completed' ? null : outcome.failure,
        delay: outcome.kind === 'again' ? outcome.delayMs : null,
        seq: outcome.kind === 'again' ? null : write.seq,
        effect: effect && `\\x${effect.toString('hex')}`,
      };
    }
  }
}
