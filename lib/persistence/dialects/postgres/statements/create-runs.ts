import type { NewRun } from '../../../../engine/ports/index.js';
import type { EngineEvent, NewStageRun } from '../../../../engine/state/rows.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, DELAYED, DUE, ENDED, milliseconds, replaced, slotOf } from '../sql.js';
import { NEW_STAGE_RUN_COLUMNS, newStageRunRow, type NewStageRunRow } from './new-stage-run-row.js';

interface RunRow {
  id: string;
  definition_id: string;
  definition_version: number;
  definition_key: string;
  owner: string | null;
  subject_type: string | null;
  subject_id: string | null;
  subject_seen: boolean;
  actor: string | null;
  trace: string | null;
  priority: number;
  queue: string | null;
  input: string;
  delay: number;
  start_at: string | null;
  deadline: number | null;
  awaited: boolean;
  /** Null: RUNNING or PENDING, as it is due or not. */
  status: string | null;
  output: string | null;
  code: string | null;
  message: string | null;
  params: string | null;
  node: string | null;
  events: string | null;
  /** What is told instead of `events` when a start that names a time is due already. */
  begun: string | null;
  digest: string | null;
  input_digest: string | null;
  ttl: number | null;
  parent: string | null;
  parent_stage: string | null;
  parent_step: string | null;
  parent_waits: boolean;
  depth: number;
  origin: string | null;
}
interface StageRunRow extends NewStageRunRow {
  job: string | null;
  queue: string | null;
  cap: number | null;
  /** Milliseconds after its run begins. */
  delay: number;
}
interface VisitRow {
  rid: string;
  node: string;
  visit: number;
  open: number;
}

const runRows = new RowSet<RunRow>({
  id: 'uuid',
  definition_id: 'text',
  definition_version: 'int',
  definition_key: 'text',
  owner: 'text',
  subject_type: 'text',
  subject_id: 'text',
  subject_seen: 'boolean',
  actor: 'json',
  trace: 'text',
  priority: 'int',
  queue: 'text',
  input: 'json',
  delay: 'float8',
  start_at: 'timestamptz',
  deadline: 'float8',
  awaited: 'boolean',
  status: 'text',
  output: 'json',
  code: 'text',
  message: 'text',
  params: 'json',
  node: 'text',
  events: 'json',
  begun: 'json',
  digest: 'bytea',
  input_digest: 'bytea',
  ttl: 'float8',
  parent: 'uuid',
  parent_stage: 'uuid',
  parent_step: 'text',
  parent_waits: 'boolean',
  depth: 'smallint',
  origin: 'json',
});
const stageRunRows = new RowSet<StageRunRow>({
  ...NEW_STAGE_RUN_COLUMNS,
  job: 'uuid',
  queue: 'text',
  cap: 'bigint',
  delay: 'float8',
});
const visitRows = new RowSet<VisitRow>({ rid: 'uuid', node: 'text', visit: 'int', open: 'int' });

export interface CreatedRow {
  run_id: string;
  created: boolean;
  due_in: number;
  input_digest: Buffer | null;
}

/**
 * Writes runs and all they begin with: one round trip for any number of starts.
 *
 * With a start key the key's row is upserted first and says whose run it is; all other inserts are conditional on that. DO
 * UPDATE and not DO NOTHING: a duplicate waits for the first start's commit, gets an answer, and never aborts the caller's
 * transaction. An expired key changes hands in the same update (IDEM-2). Keys are taken in digest order, so that two
 * `startMany` can't deadlock. The variant without keys leaves the ledger alone.
 *
 * The variant for children holds their parents (FOR SHARE) until it commits: whatever ends a parent then waits, and sees the
 * child. It never waits itself; where a parent could not be held it may be ending, so the child is marked, and `findOrphans`
 * looks again. Of one that has ended already the child is an orphan from the start (CANCEL-3).
 *
 * Whether a run is due, its status, what it tells, its jobs and its deadline all follow from one instant, `due_at`, on the
 * database's clock: hosts' clocks are not asked (fault B3). $1 offset ms.
 */
export function createRuns(t: TableNames, form: 'plain' | 'keyed' | 'children'): Statement {
  const keyed = form !== 'plain';
  const now = clock('$1');
  const dueIn = `(extract(epoch FROM d.due_at - ${now}) * 1000)::float8 AS due_in`;
  const first = 2;
  const second = first + runRows.width;
  const third = second + stageRunRows.width;
  const key = `
    k AS (
      INSERT INTO ${t.idempotencyKeys} AS held (digest, scope, run_id, owner_id, input_digest, created_at, expires_at)
      SELECT digest, 'start', id, owner, input_digest, ${now}, ${now} + ${milliseconds('ttl')} FROM d WHERE digest IS NOT NULL ORDER BY digest
          ON CONFLICT (digest) DO UPDATE SET ${replaced(['run_id', 'input_digest', 'created_at', 'expires_at'], `held.expires_at <= ${now}`)}
      RETURNING held.digest, held.run_id, held.input_digest),
    c AS MATERIALIZED (SELECT d.* FROM d LEFT JOIN k ON k.digest = d.digest WHERE d.digest IS NULL OR k.run_id = d.id),`;
  const parents = `
    p AS MATERIALIZED (SELECT r.id, r.status FROM ${t.runs} r WHERE r.id IN (SELECT parent FROM d WHERE parent_waits) ORDER BY r.id FOR SHARE SKIP LOCKED),`;
  const orphaned = `c.parent_waits AND coalesce((SELECT p.status IN ${ENDED} FROM p WHERE p.id = c.parent), EXISTS (SELECT 1 FROM ${t.runs} x WHERE x.id = c.parent))`;
  return {
    name: form === 'plain' ? 'create-runs' : `create-runs-${form}`,
    text: `
    WITH d AS MATERIALIZED (
      SELECT x.*, w.due_at, w.due_at > ${now} AS later FROM ${runRows.source('x', first)}
       CROSS JOIN LATERAL (SELECT greatest(x.start_at, ${now} + ${milliseconds('x.delay')}) AS due_at) w),
    ${form === 'children' ? parents : ''}
    ${keyed ? key : 'c AS (SELECT * FROM d),'}
    r AS (
      INSERT INTO ${t.runs} (id, definition_id, definition_version, definition_key, status, owner_id, subject_type, subject_id, subject_seen, actor, trace, priority, queue, input, awaited, output,
             failure_code, failure_message, failure_params, failed_node, created_at, start_at, started_at, finished_at, deadline_at,
             parent_run_id, parent_stage_run_id, parent_step, parent_waits, depth, origin, cancel_asked)
      SELECT id, definition_id, definition_version, definition_key, coalesce(status, CASE WHEN later THEN 'PENDING' ELSE 'RUNNING' END), owner, subject_type, subject_id, subject_seen, actor, trace,
             priority, queue, input, awaited, output, code, message, params, node, ${now}, CASE WHEN later THEN due_at END,
             CASE WHEN status IS NOT NULL OR NOT later THEN ${now} END, CASE WHEN status IN ${ENDED} THEN ${now} END, due_at + ${milliseconds('deadline')},
             parent, parent_stage, parent_step, parent_waits, depth, origin, ${form === 'children' ? orphaned : 'false'} FROM c),
    s AS (
      INSERT INTO ${t.stageRuns} (id, run_id, owner_id, node, position, key, stage, visit, ordinal, status, skip_reason, error_code, error_message, output, outcome, created_at, finished_at)
      SELECT n.id, n.rid, c.owner, n.node, n.position, n.key, n.stage, n.visit, n.ordinal, n.status, n.skip_reason, n.code, n.message, n.output, n.outcome, ${now},
             CASE WHEN n.status <> 'PENDING' THEN ${now} END
        FROM ${stageRunRows.source('n', second)} JOIN c ON c.id = n.rid
      RETURNING id),
    j AS (
      INSERT INTO ${t.jobs} (id, run_id, stage_run_id, owner_id, definition_key, queue, priority, run_at, state, cap_ms, created_at)
      SELECT n.job, n.rid, n.id, c.owner, c.definition_key, n.queue, c.priority, c.due_at + ${milliseconds('n.delay')},
             CASE WHEN c.later OR n.delay > 0 THEN ${DELAYED} ELSE ${DUE} END, n.cap, ${now}
        FROM ${stageRunRows.source('n', second)} JOIN c ON c.id = n.rid WHERE n.job IS NOT NULL),
    v AS (
      INSERT INTO ${t.nodeVisits} (run_id, owner_id, generation, node, visit, open)
      SELECT n.rid, c.owner, 1, n.node, n.visit, n.open FROM ${visitRows.source('n', third)} JOIN c ON c.id = n.rid),
    o AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT c.id, c.owner, ${slotOf('c.id')}, told.events, ${now}
        FROM c CROSS JOIN LATERAL (SELECT CASE WHEN c.later THEN c.events ELSE coalesce(c.begun, c.events) END AS events) told
       WHERE told.events IS NOT NULL ORDER BY c.nr)
    ${
      keyed
        ? `SELECT coalesce(k.run_id, d.id) AS run_id, k.digest IS NULL OR k.run_id = d.id AS created, ${dueIn}, k.input_digest
             FROM d LEFT JOIN k ON k.digest = d.digest ORDER BY d.nr`
        : `SELECT d.id AS run_id, true AS created, ${dueIn}, NULL::bytea AS input_digest FROM d ORDER BY d.nr`
    }`,
  };
}

export function createRunsValues(offsetMs: number, runs: readonly NewRun[]): unknown[] {
  return [
    offsetMs,
    ...runRows.values(runs.map(toRunRow)),
    ...stageRunRows.values(
      runs.flatMap(({ id, transition }) => transition.stageRuns.map((row) => stageRunRow(id, row))),
    ),
    ...visitRows.values(
      runs.flatMap(({ id, transition }) => transition.visits.map((visit) => ({ rid: id, ...visit }))),
    ),
  ];
}

function stageRunRow(runId: string, row: NewStageRun): StageRunRow {
  const { job } = row;
  return Object.assign(newStageRunRow(runId, row), {
    job: job?.id ?? null,
    queue: job?.queue ?? null,
    cap: job?.capMs ?? null,
    delay: job?.delayMs ?? 0,
  });
}

function toRunRow(run: NewRun): RunRow {
  const end = run.transition.run;
  const failure = end?.to === 'FAILED' ? end.failure : null;
  const { events } = run.transition;
  const namesTime = run.delayMs > 0 || run.startAt !== null;
  return {
    id: run.id,
    definition_id: run.definitionId,
    definition_version: run.definitionVersion,
    definition_key: run.definitionKey,
    owner: run.ownerId,
    subject_type: run.subject?.type ?? null,
    subject_id: run.subject?.id ?? null,
    subject_seen: run.subjectSeen,
    actor: run.actor,
    trace: run.trace,
    priority: run.priority,
    queue: run.queue,
    input: run.input,
    delay: run.delayMs,
    start_at: run.startAt,
    deadline: run.deadlineMs,
    awaited: run.awaited,
    status: end?.to ?? null,
    output: end?.to === 'COMPLETED' ? end.output : null,
    code: failure?.code ?? null,
    message: failure?.message ?? null,
    params: failure?.params ? JSON.stringify(failure.params) : null,
    node: failure?.node ?? null,
    events: events.length > 0 ? JSON.stringify(events) : null,
    begun: namesTime && end === null ? JSON.stringify([RUN_STARTED, ...events]) : null,
    digest: hex(run.idempotency?.digest),
    input_digest: hex(run.idempotency?.inputDigest),
    ttl: run.idempotency?.ttlMs ?? null,
    parent: run.parent?.runId ?? null,
    parent_stage: run.parent?.stageRunId ?? null,
    parent_step: run.parent?.key ?? null,
    parent_waits: run.parent?.waits ?? false,
    depth: run.parent?.depth ?? 0,
    origin: run.origin ?? null,
  };
}

/** Left out of what `decide` says of a start that names a time. */
const RUN_STARTED: EngineEvent = { type: 'run:started' };

/** How PostgreSQL reads bytes inside an array. */
function hex(bytes: Buffer | undefined): string | null {
  return bytes ? `\\x${bytes.toString('hex')}` : null;
}
