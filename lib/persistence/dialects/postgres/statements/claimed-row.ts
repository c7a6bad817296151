import type { ClaimedJob, EarlierStageRun } from '../../../../engine/ports/index.js';
import type { TableNames } from '../../../table-names.js';
import { CANCEL, isEscalated, sameOwner } from '../sql.js';
import { subjectOf } from '../subject-columns.js';

/** A job as the claim answers it. What was before it comes along only where something was. */
export interface ClaimedRow {
  job_id: string;
  kind: number;
  token: string;
  taken: boolean;
  /** It, its stage run and its run don't belong to the same owner. */
  forged: boolean;
  run_status: string;
  attempt: number;
  has_ledger: boolean;
  resumed: boolean;
  stage_run_id: string;
  node: string;
  key: string;
  stage: string;
  visit: number;
  ordinal: number;
  budget_from: number;
  deferrals: number;
  run_id: string;
  definition_id: string;
  definition_version: number;
  definition_key: string;
  generation: number;
  depth: number;
  owner_id: string | null;
  subject_type: string | null;
  subject_id: string | null;
  subject_seen: boolean;
  touches: number;
  actor: string | null;
  trace: string | null;
  priority: number;
  queue: string | null;
  input: string;
  /** `EarlierTuples`. */
  earlier: string | null;
}

type EarlierTuples = [earlier: EarlierTuple[], unlisted: string[], isLatest: boolean];

type EarlierTuple = [
  node: string,
  key: string,
  stage: string,
  status: 'COMPLETED' | 'SKIPPED',
  output: string | null,
  outcome: string | null,
];

/**
 * Columns of `st` (claimed), `s` (stage run) and `r` (run). Outputs travel as JSON strings that hold JSON text: the server
 * never looks inside a user's payload, in which U+0000 would stop it (fault A1).
 */
export function claimedColumns(t: TableNames): string {
  const ended = `e.status IN ('COMPLETED', 'SKIPPED')`;
  return `
    s.id AS stage_run_id, s.node, s.key, s.stage, s.visit, s.ordinal, s.budget_from, s.deferrals,
    r.id AS run_id, r.definition_id, r.definition_version, r.definition_key, r.generation, r.depth, r.owner_id, r.subject_type, r.subject_id, r.subject_seen, r.touches,
    r.actor::text AS actor, r.trace, r.priority, r.queue, r.input::text AS input,
    CASE WHEN s.ordinal > 1 THEN (
      SELECT json_build_array(
               coalesce(json_agg(json_build_array(e.node, e.key, e.stage, e.status, e.output::text, e.outcome) ORDER BY e.ordinal) FILTER (WHERE ${ended}), '[]'),
               coalesce(json_agg(DISTINCT e.node) FILTER (WHERE NOT ${ended} AND e.id <> s.id), '[]'), max(e.ordinal) IS NOT DISTINCT FROM s.ordinal)::text
        FROM ${t.stageRuns} e WHERE e.run_id = r.id AND e.generation = s.generation AND ${sameOwner('e', 'r')} AND NOT ${isEscalated('e')}) END AS earlier`;
}

export function claimedJob(row: ClaimedRow): ClaimedJob {
  const [earlier, unlisted, isLatest] =
    row.earlier === null ? NOTHING_BEFORE : (JSON.parse(row.earlier) as EarlierTuples);
  return {
    kind: row.kind === CANCEL ? 'cancel' : 'execute',
    jobId: row.job_id,
    token: row.token,
    run: {
      id: row.run_id,
      definitionId: row.definition_id,
      definitionVersion: row.definition_version,
      definitionKey: row.definition_key,
      generation: row.generation,
      depth: row.depth,
      ownerId: row.owner_id,
      subject: subjectOf(row),
      subjectSeen: row.subject_seen,
      touches: row.touches,
      actor: row.actor,
      trace: row.trace,
      priority: row.priority,
      queue: row.queue,
      input: row.input,
    },
    stageRun: {
      id: row.stage_run_id,
      node: row.node,
      key: row.key,
      stage: row.stage,
      visit: row.visit,
      ordinal: row.ordinal,
      attempt: row.attempt,
      budgetFrom: row.budget_from,
      deferrals: row.deferrals,
      hasLedger: row.has_ledger,
      resumed: row.resumed,
    },
    earlier: earlier.map(toEarlier),
    unlisted,
    isLatest,
  };
}

const NOTHING_BEFORE: EarlierTuples = [[], [], true];

function toEarlier([node, key, stage, status, output, outcome]: EarlierTuple): EarlierStageRun {
  return { node, key, stage, status, output, outcome };
}
