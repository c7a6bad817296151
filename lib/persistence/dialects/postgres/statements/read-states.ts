import type { RunState, StageRunState } from '../../../../engine/state/rows.js';
import type { RunStatus, StageRunStatus } from '../../../../engine/state/statuses.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { sameOwner } from '../sql.js';

export interface StateRow {
  id: string;
  status: RunStatus;
  generation: number;
  priority: number;
  queue: string | null;
  input: string;
  definition_key: string;
  stage_runs: string | null;
  stage_run_count: number;
}

type Tuple = [
  id: string,
  node: string,
  key: string,
  stage: string,
  visit: number,
  status: StageRunStatus,
  attempt: number,
  ordinal: number,
  requeues: number,
  output: string | null,
  outcome: string | null,
];

/** Runs as `decide` sees them. Only for runs whose lock is held: then nothing but a claim can change what is read. */
export function readStates(t: TableNames): Statement {
  return {
    name: 'read-states',
    text: `
    SELECT r.id, r.status, r.generation, r.priority, r.queue, r.input::text AS input, r.definition_key, s.stage_runs, coalesce(s.stage_run_count, 0) AS stage_run_count
      FROM ${t.runs} r CROSS JOIN LATERAL (
        SELECT json_agg(json_build_array(s.id, s.node, s.key, s.stage, s.visit, s.status, s.attempt, s.ordinal, s.requeues, s.output::text, s.outcome) ORDER BY s.ordinal)
                 FILTER (WHERE s.generation = r.generation)::text AS stage_runs, max(s.ordinal) AS stage_run_count
          FROM ${t.stageRuns} s WHERE s.run_id = r.id AND ${sameOwner('s', 'r')}) s
     WHERE r.id = ANY ($1::uuid[]) ORDER BY r.id`,
  };
}

export function runState(row: StateRow): RunState {
  return {
    id: row.id,
    status: row.status,
    generation: row.generation,
    priority: row.priority,
    queue: row.queue,
    input: row.input,
    stageRuns: row.stage_runs === null ? [] : (JSON.parse(row.stage_runs) as Tuple[]).map(stageRunState),
    stageRunCount: row.stage_run_count,
  };
}

function stageRunState([
  id,
  node,
  key,
  stage,
  visit,
  status,
  attempt,
  ordinal,
  requeues,
  output,
  outcome,
]: Tuple): StageRunState {
  return { id, node, key, stage, visit, status, attempt, ordinal, requeues, output, outcome };
}
