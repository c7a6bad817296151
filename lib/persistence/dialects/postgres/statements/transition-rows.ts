import type { NewJob, Transition } from '../../../../engine/state/rows.js';
import { RowSet } from '../row-set.js';
import { CANCEL, EXECUTE } from '../sql.js';
import { NEW_STAGE_RUN_COLUMNS, newStageRunRow, type NewStageRunRow } from './new-stage-run-row.js';

interface RunRow {
  id: string;
  status: string | null;
  output: string | null;
  code: string | null;
  message: string | null;
  params: string | null;
  node: string | null;
  reason: string | null;
  terminated: boolean;
  cascade: boolean;
  rerun: boolean;
  definition_version: number | null;
  definition_key: string | null;
}
interface JobRow {
  id: string;
  rid: string;
  sid: string;
  kind: number;
  queue: string;
  cap: number | null;
  /** Milliseconds from now, or from the run's start if that is later. */
  delay: number;
}
interface AgainRow {
  id: string;
  reopened: boolean;
}
/** A stage run of a run that a rerun keeps. */
interface KeptRow {
  id: string;
  rid: string;
}
/** One that is cancelled alone; by which outcome the run goes on instead, if it does. */
interface LeftRow extends KeptRow {
  outcome: string | null;
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
  terminated: 'boolean',
  cascade: 'boolean',
  rerun: 'boolean',
  definition_version: 'int',
  definition_key: 'text',
});
const stageRunRows = new RowSet<NewStageRunRow>(NEW_STAGE_RUN_COLUMNS);
const jobRows = new RowSet<JobRow>({
  id: 'uuid',
  rid: 'uuid',
  sid: 'uuid',
  kind: 'smallint',
  queue: 'text',
  cap: 'bigint',
  delay: 'float8',
});
const againRows = new RowSet<AgainRow>({ id: 'uuid', reopened: 'boolean' });
const keptRows = new RowSet<KeptRow>({ id: 'uuid', rid: 'uuid' });
const leftRows = new RowSet<LeftRow>({ id: 'uuid', rid: 'uuid', outcome: 'text' });
const visitRows = new RowSet<VisitRow>({ rid: 'uuid', node: 'text', visit: 'int', open: 'int' });
const eventRows = new RowSet<EventRow>({ rid: 'uuid', events: 'json' });

const SETS = {
  runs: runRows,
  stageRuns: stageRunRows,
  jobs: jobRows,
  again: againRows,
  kept: keptRows,
  left: leftRows,
  visits: visitRows,
  events: eventRows,
};
type SetName = keyof typeof SETS;

/** The rows of a set, as `alias` in a FROM clause. $1 is the clock's offset, then come the sets, a parameter a column. */
export function rowsOf(name: SetName, alias: string): string {
  let first = 2;
  for (const [other, set] of Object.entries(SETS)) {
    if (other === name) break;
    first += set.width;
  }
  return SETS[name].source(alias, first);
}

/** A run's transition, with the events of the outcomes that led to it before its own. */
export interface RunTransition {
  readonly runId: string;
  readonly transition: Transition;
}

export function transitionValues(offsetMs: number, items: readonly RunTransition[]): unknown[] {
  const again = items.flatMap(({ runId, transition }) => [
    ...transition.reopened.map((row) => ({ runId, reopened: true, ...row })),
    ...transition.requeued.map((row) => ({ runId, reopened: false, ...row })),
  ]);
  const jobRow = (runId: string, sid: string, kind: number, { id, queue, capMs, delayMs = 0 }: NewJob): JobRow => ({
    id,
    rid: runId,
    sid,
    kind,
    queue,
    cap: capMs,
    delay: delayMs,
  });
  const jobs: JobRow[] = [
    ...items.flatMap(({ runId, transition }) =>
      transition.stageRuns.flatMap(({ id, job }) => (job ? [jobRow(runId, id, EXECUTE, job)] : [])),
    ),
    ...again.map(({ id, runId, job }) => jobRow(runId, id, EXECUTE, job)),
    ...items.flatMap(({ runId, transition }) =>
      transition.cancelJobs.map(({ stageRunId, job }) => jobRow(runId, stageRunId, CANCEL, job)),
    ),
  ];
  return [
    offsetMs,
    ...runRows.values(items.map(toRunRow)),
    ...stageRunRows.values(
      items.flatMap(({ runId, transition }) => transition.stageRuns.map((row) => newStageRunRow(runId, row))),
    ),
    ...jobRows.values(jobs),
    ...againRows.values(again),
    ...keptRows.values(
      items.flatMap(({ runId, transition }) => (transition.rerun?.kept ?? []).map((id) => ({ id, rid: runId }))),
    ),
    ...leftRows.values(
      items.flatMap(({ runId, transition: { cancelled = [], leftBy = {} } }) =>
        cancelled.map((id) => ({ id, rid: runId, outcome: leftBy[id] ?? null })),
      ),
    ),
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

function toRunRow({ runId, transition: { run, cancelOpen, rerun, migrate } }: RunTransition): RunRow {
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
    terminated: run?.to === 'CANCELLED' && run.terminated,
    cascade: cancelOpen,
    rerun: rerun !== undefined,
    definition_version: migrate?.version ?? null,
    definition_key: migrate?.definitionKey ?? null,
  };
}
