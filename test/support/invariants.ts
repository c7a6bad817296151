import type { Pool } from 'pg';

/** What must hold between any two commits, as queries that answer the rows which break it. */
export const INVARIANTS: Readonly<Record<string, string>> = {
  'no open stage run under a run that has ended': `
    SELECT s.id, s.status, r.status AS run FROM workflow_stage_runs s JOIN workflow_runs r ON r.id = s.run_id
     WHERE r.status IN ('COMPLETED', 'FAILED', 'CANCELLED') AND s.status IN ('PENDING', 'RUNNING', 'SUSPENDED')`,
  'no job without its open stage run': `
    SELECT j.id, j.state, s.status FROM workflow_jobs j LEFT JOIN workflow_stage_runs s ON s.id = j.stage_run_id
     WHERE j.kind = 0 AND (s.id IS NULL OR j.state = 1 AND (s.status <> 'RUNNING' OR s.claim_token IS DISTINCT FROM j.claim_token) OR j.state <> 1 AND s.status <> 'PENDING')`,
  'no open stage run without its one job': `
    SELECT s.id, s.status FROM workflow_stage_runs s WHERE s.status IN ('PENDING', 'RUNNING')
       AND (SELECT count(*) FROM workflow_jobs j WHERE j.stage_run_id = s.id AND j.kind = 0) <> 1`,
  'no running run without a job or a wait': `
    SELECT r.id FROM workflow_runs r WHERE r.status = 'RUNNING' AND NOT EXISTS (SELECT 1 FROM workflow_jobs j WHERE j.run_id = r.id)
       AND NOT EXISTS (SELECT 1 FROM workflow_steps w WHERE w.run_id = r.id AND w.open)`,
  'no suspended stage run without a wait, or with a job': `
    SELECT s.id FROM workflow_stage_runs s WHERE s.status = 'SUSPENDED'
       AND (NOT EXISTS (SELECT 1 FROM workflow_steps w WHERE w.stage_run_id = s.id AND w.open) OR EXISTS (SELECT 1 FROM workflow_jobs j WHERE j.stage_run_id = s.id AND j.kind = 0))`,
  'no open wait under a stage run or a run that has ended': `
    SELECT w.stage_run_id, w.key, s.status, r.status AS run FROM workflow_steps w JOIN workflow_stage_runs s ON s.id = w.stage_run_id JOIN workflow_runs r ON r.id = w.run_id
     WHERE w.open AND (s.status NOT IN ('PENDING', 'RUNNING', 'SUSPENDED') OR r.status NOT IN ('PENDING', 'RUNNING'))`,
  'no open round under a run that has ended': `
    SELECT a.id, r.status AS run FROM workflow_approval_rounds a JOIN workflow_runs r ON r.id = a.run_id
     WHERE a.status = 'open' AND r.status NOT IN ('PENDING', 'RUNNING')`,
  'nobody is asked in a round that has ended, nor after he has decided': `
    SELECT k.* FROM workflow_approval_asks k JOIN workflow_approval_rounds a ON a.id = k.round_id
     WHERE k.open AND (a.status <> 'open' OR k.stage <> a.stage OR EXISTS (
       SELECT 1 FROM workflow_approval_decisions d WHERE d.round_id = k.round_id AND d.stage = k.stage AND d.approver = k.approver AND NOT d.withdrawn))`,
  'what is open waits, and what waits is open': `
    SELECT stage_run_id, key, status, open FROM workflow_steps WHERE open <> (status = 'waiting')`,
  'a run has an event once': `
    SELECT run_id, event_id, count(*) FROM workflow_steps WHERE event_id IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1`,
  'each stage entered once a visit': `
    SELECT run_id, generation, node, visit, key, count(*) FROM workflow_stage_runs GROUP BY 1, 2, 3, 4, 5 HAVING count(*) > 1`,
  'counters say how many branches are open': `
    SELECT v.* FROM workflow_node_visits v JOIN workflow_runs r ON r.id = v.run_id AND r.generation = v.generation AND r.status = 'RUNNING'
     WHERE v.open <> (SELECT count(*) FROM workflow_stage_runs s WHERE s.run_id = v.run_id AND s.node = v.node AND s.visit = v.visit AND s.status NOT IN ('COMPLETED', 'SKIPPED'))`,
  'each end of a run is told once': `
    SELECT o.run_id, count(*) FROM workflow_outbox o, json_array_elements(o.events) e
     GROUP BY 1 HAVING count(*) FILTER (WHERE e->>'type' IN ('run:completed', 'run:failed', 'run:cancelled')) - count(*) FILTER (WHERE e->>'type' = 'run:retried') > 1`,
};

export const brokenInvariants = (pool: Pool): Promise<Record<string, unknown[]>> => brokenOf(pool, INVARIANTS);

/** All of them in one trip, and planned once a connection: they are asked after every step of thousands of orders. */
export async function brokenOf(
  pool: Pool,
  invariants: Readonly<Record<string, string>>,
): Promise<Record<string, unknown[]>> {
  const broken: Record<string, unknown[]> = {};
  const { rows } = await pool.query<{ name: string; row: unknown }>(statementOf(invariants));
  for (const { name, row } of rows) (broken[name] ??= []).push(row);
  return broken;
}

const statements = new WeakMap<object, { readonly name: string; readonly text: string }>();
let made = 0;

function statementOf(invariants: Readonly<Record<string, string>>): { readonly name: string; readonly text: string } {
  let statement = statements.get(invariants);
  if (!statement) {
    const parts = Object.entries(invariants).map(([name, query]) => {
      const literal = name.replaceAll("'", "''");
      return `SELECT '${literal}' AS name, to_json(broken) AS row FROM (${query}) broken`;
    });
    statement = { name: `invariants_${(made += 1)}`, text: parts.join(' UNION ALL ') };
    statements.set(invariants, statement);
  }
  return statement;
}

/**
 * Empties tables that hold a few rows. A TRUNCATE makes new files for each table and index, which takes longer than all that a small
 * scenario does; now and then one is needed, so that what was deleted is not read again and again.
 */
export async function emptyTables(pool: Pool, tables: readonly string[], round: number): Promise<void> {
  const text =
    round % 100 === 0 ? `TRUNCATE ${tables.join(', ')}` : tables.map((table) => `DELETE FROM ${table}`).join('; ');
  await pool.query(text);
}
