import type { Transition } from '../../../../engine/state/rows.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { CANCEL, clock, DUE, ENDED, EXECUTE, OPEN_STAGE_RUN, slotOf } from '../sql.js';

interface RunRow {
  id: string;
  status: string | null;
  output: string | null;
  code: string | null;
  message: string | null;
  params: string | null;
  node: string | null;
  reason: string | null;
  cascade: boolean;
}
interface StageRunRow {
  id: string;
  rid: string;
  node: string;
  position: number;
  key: string;
  stage: string;
  visit: number;
  ordinal: number;
  status: string;
  skip_reason: string | null;
  code: string | null;
  message: string | null;
}
interface JobRow {
  id: string;
  rid: string;
  sid: string;
  kind: number;
  queue: string;
  cap: number | null;
}
interface AgainRow {
  id: string;
  reopened: boolean;
}
interface VisitRow {
  rid: string;
  node: string;
  visit: number;
  open: number;
}
interface EventRow {
  rid: string;
  events: string;
}

const runRows = new RowSet<RunRow>({
  id: 'uuid',
  status: 'text',
  output: 'json',
  code: 'text',
  message: 'text',
  params: 'json',
  node: 'text',
  reason: 'text',
  cascade: 'boolean',
});
const stageRunRows = new RowSet<StageRunRow>({
  id: 'uuid',
  rid: 'uuid',
  node: 'text',
  position: 'int',
  key: 'text',
  stage: 'text',
  visit: 'int',
  ordinal: 'int',
  status: 'text',
  skip_reason: 'text',
  code: 'text',
  message: 'text',
});
const jobRows = new RowSet<JobRow>({
  id: 'uuid',
  rid: 'uuid',
  sid: 'uuid',
  kind: 'smallint',
  queue: 'text',
  cap: 'bigint',
});
const againRows = new RowSet<AgainRow>({ id: 'uuid', reopened: 'boolean' });
const visitRows = new RowSet<VisitRow>({ rid: 'uuid', node: 'text', visit: 'int', open: 'int' });
const eventRows = new RowSet<EventRow>({ rid: 'uuid', events: 'json' });

const SETS = [runRows, stageRunRows, jobRows, againRows, visitRows, eventRows] as const;
/** Number of each set's first parameter; $1 is the clock's offset. */
const FIRST = SETS.map((_, index) => 2 + SETS.slice(0, index).reduce((sum, set) => sum + set.width, 0));

export interface AppliedRow {
  id: string;
  status: string;
  awaited: boolean;
}

/**
 * Writes transitions of runs whose locks this transaction holds already: run changes, cascades, new stage runs, jobs, counters,
 * events. One statement for any number of runs.
 *
 * A cascade has to be a statement of its own after the lock: in the locking statement's snapshot it would miss the row that
 * a record inserted while the lock was waited for (protocols, section 1). The outbox ids are drawn here, after the lock, so
 * that they follow commit order per run. New jobs stand in the queue where their run stands: its priority, its enqueue time.
 */
export function applyTransitions(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'apply-transitions',
    text: `
    WITH c AS MATERIALIZED (SELECT * FROM ${runRows.source('c', FIRST[0]!)}),
    lk AS MATERIALIZED (
      SELECT r.id, r.owner_id, r.generation, r.priority, coalesce(r.start_at, r.created_at) AS enqueued_at, r.definition_key FROM ${t.runs} r WHERE r.id IN (SELECT id FROM c)),
    ru AS (
      UPDATE ${t.runs} r SET status = c.status, version = r.version + 1,
             output = CASE WHEN c.status = 'COMPLETED' THEN c.output WHEN c.status = 'RUNNING' THEN NULL ELSE r.output END,
             failure_code = c.code, failure_message = c.message, failure_params = c.params, failed_node = c.node, cancel_reason = c.reason,
             finished_at = CASE WHEN c.status IN ${ENDED} THEN ${now} END
        FROM c WHERE r.id = c.id AND c.status IS NOT NULL RETURNING r.id, r.status, r.awaited),
    cs AS (
      UPDATE ${t.stageRuns} s SET status = 'CANCELLED', finished_at = ${now}, version = s.version + 1
        FROM c JOIN lk ON lk.id = c.id WHERE s.run_id = c.id AND c.cascade AND s.status IN ${OPEN_STAGE_RUN}),
    cj AS (DELETE FROM ${t.jobs} j USING c WHERE j.run_id = c.id AND c.cascade AND j.kind = ${EXECUTE}),
    ns AS (
      INSERT INTO ${t.stageRuns} (id, run_id, owner_id, generation, node, position, key, stage, visit, ordinal, status, skip_reason, error_code, error_message, created_at, finished_at)
      SELECT n.id, n.rid, lk.owner_id, lk.generation, n.node, n.position, n.key, n.stage, n.visit, n.ordinal, n.status, n.skip_reason, n.code, n.message, ${now},
             CASE WHEN n.status <> 'PENDING' THEN ${now} END
        FROM ${stageRunRows.source('n', FIRST[1]!)} JOIN lk ON lk.id = n.rid),
    nj AS (
      INSERT INTO ${t.jobs} (id, kind, run_id, stage_run_id, owner_id, definition_key, queue, priority, run_at, state, cap_ms, created_at)
      SELECT j.id, j.kind, j.rid, j.sid, lk.owner_id, lk.definition_key, j.queue, lk.priority, lk.enqueued_at, ${DUE}, j.cap, ${now}
        FROM ${jobRows.source('j', FIRST[2]!)} JOIN lk ON lk.id = j.rid),
    ag AS (
      UPDATE ${t.stageRuns} s SET status = 'PENDING', claim_token = NULL, finished_at = NULL, version = s.version + 1,
             budget_from = CASE WHEN a.reopened THEN s.attempt ELSE s.budget_from END, losses = CASE WHEN a.reopened THEN 0 ELSE s.losses END,
             requeues = CASE WHEN a.reopened THEN 0 ELSE s.requeues + 1 END
        FROM ${againRows.source('a', FIRST[3]!)} WHERE s.id = a.id),
    nv AS (
      INSERT INTO ${t.nodeVisits} (run_id, generation, node, visit, open)
      SELECT v.rid, lk.generation, v.node, v.visit, v.open FROM ${visitRows.source('v', FIRST[4]!)} JOIN lk ON lk.id = v.rid
          ON CONFLICT (run_id, generation, node, visit) DO UPDATE SET open = EXCLUDED.open),
    told AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT e.rid, lk.owner_id, ${slotOf('e.rid')}, e.events, ${now} FROM ${eventRows.source('e', FIRST[5]!)} JOIN lk ON lk.id = e.rid ORDER BY e.nr)
    SELECT id, status, awaited FROM ru`,
  };
}

/** A run's transition, with the events of the outcomes that led to it before its own. */
export interface RunTransition {
  readonly runId: string;
  readonly transition: Transition;
}

export function transitionValues(offsetMs: number, items: readonly RunTransition[]): unknown[] {
  const stageRuns = items.flatMap(({ runId, transition }) => transition.stageRuns.map((row) => ({ ...row, runId })));
  const again = items.flatMap(({ runId, transition }) => [
    ...transition.reopened.map((row) => ({ ...row, runId, reopened: true })),
    ...transition.requeued.map((row) => ({ ...row, runId, reopened: false })),
  ]);
  const jobs: JobRow[] = [
    ...stageRuns.flatMap(({ id, runId, job }) =>
      job ? [{ id: job.id, rid: runId, sid: id, kind: EXECUTE, queue: job.queue, cap: job.capMs }] : [],
    ),
    ...again.map(({ id, runId, job }) => ({
      id: job.id,
      rid: runId,
      sid: id,
      kind: EXECUTE,
      queue: job.queue,
      cap: job.capMs,
    })),
    ...items.flatMap(({ runId, transition }) =>
      transition.cancelJobs.map(({ stageRunId, job }) => ({
        id: job.id,
        rid: runId,
        sid: stageRunId,
        kind: CANCEL,
        queue: job.queue,
        cap: job.capMs,
      })),
    ),
  ];
  return [
    offsetMs,
    ...runRows.values(items.map(toRunRow)),
    ...stageRunRows.values(
      stageRuns.map(({ runId, skipReason, failure, ...row }) => ({
        ...row,
        rid: runId,
        skip_reason: skipReason,
        code: failure?.code ?? null,
        message: failure?.message ?? null,
      })),
    ),
    ...jobRows.values(jobs),
    ...againRows.values(again),
    ...visitRows.values(
      items.flatMap(({ runId, transition }) => transition.visits.map((visit) => ({ rid: runId, ...visit }))),
    ),
    ...eventRows.values(
      items.flatMap(({ runId, transition }) =>
        transition.events.length > 0 ? [{ rid: runId, events: JSON.stringify(transition.events) }] : [],
      ),
    ),
  ];
}

function toRunRow({ runId, transition: { run, cancelOpen } }: RunTransition): RunRow {
  const failure = run?.to === 'FAILED' ? run.failure : null;
  return {
    id: runId,
    status: run?.to ?? null,
    output: run?.to === 'COMPLETED' ? run.output : null,
    code: failure?.code ?? null,
    message: failure?.message ?? null,
    params: failure?.params ? JSON.stringify(failure.params) : null,
    node: failure?.node ?? null,
    reason: run?.to === 'CANCELLED' ? run.reason : null,
    cascade: cancelOpen,
  };
}
