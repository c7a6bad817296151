import type { LinearRecord } from '../../engine/ports/index.js';
import type { EngineEvent, JsonText, NewStageRun } from '../../engine/state/rows.js';
import type { PassedRow, PassingRow, RecordRow } from '../dialects/postgres/statements/record.js';
import { newStageRunRow } from '../dialects/postgres/statements/new-stage-run-row.js';
import { outcomeRow } from './outcome-row.js';

/**
 * Whether a record fits the one-statement form: it goes back to PENDING, or one PENDING stage run or the end of a completed run follows,
 * with nodes that are passed on the way there. Fan-outs and failed conditions take the joined form.
 */
export function isPlain({ outcome, transition }: LinearRecord): boolean {
  if (outcome.kind === 'failed') return false;
  if (!transition) return outcome.kind === 'retry' || outcome.kind === 'released';
  if (
    transition.visits.length > 0 ||
    transition.cancelOpen ||
    transition.reopened.length > 0 ||
    transition.requeued.length > 0 ||
    transition.cancelled !== undefined
  )
    return false;
  let waiting = 0;
  for (const row of transition.stageRuns) {
    if (row.status === 'PENDING') waiting += 1;
    else if (!hasPassed(row)) return false;
  }
  return transition.run ? transition.run.to === 'COMPLETED' && waiting === 0 : waiting === 1;
}

/** Whether it needs the form for graphs: an outcome with a name, a later visit, nodes that are passed. */
export function isPassing({ outcome, transition }: LinearRecord): boolean {
  if (outcome.kind === 'completed' && outcome.outcome !== undefined) return true;
  const rows = transition?.stageRuns ?? [];
  return rows.length > 1 || rows.some((row) => row.visit > 1 || row.status !== 'PENDING');
}

const hasPassed = ({ status }: NewStageRun): boolean => status === 'COMPLETED' || status === 'SKIPPED';

/** A record in the form for graphs. */
export function passingRow(record: LinearRecord): PassingRow {
  const { outcome } = record;
  const name = outcome.kind === 'completed' ? (outcome.outcome ?? null) : null;
  return Object.assign(recordRow(record), { outcome: name, nvisit: nextOf(record)?.visit ?? null });
}

/** The nodes that are passed after a record. */
export function passedAfter({ lease, transition }: LinearRecord): PassedRow[] {
  const passed: PassedRow[] = [];
  for (const row of transition?.stageRuns ?? [])
    if (hasPassed(row)) passed.push(Object.assign(newStageRunRow(lease.runId, row), { after: lease.stageRunId }));
  return passed;
}

function nextOf({ transition }: LinearRecord): NewStageRun | undefined {
  const rows = transition?.stageRuns;
  // Most have one, and it is that.
  return rows?.length === 1 && rows[0]!.status === 'PENDING'
    ? rows[0]
    : rows?.find(({ status }) => status === 'PENDING');
}

/** Written out, column by column: rows of one shape, and no copies, a hundred thousand times a minute. */
export function recordRow(record: LinearRecord): RecordRow {
  const { lease, outcome, transition, events, handOff } = record;
  const own = outcomeRow(lease, outcome);
  const next = nextOf(record);
  const end = transition?.run?.to === 'COMPLETED' ? transition.run.output : null;
  const told = transition && transition.events.length > 0 ? [...events, ...transition.events] : events;
  const text = JSON.stringify(told);
  return {
    sid: own.sid,
    token: own.token,
    rid: own.rid,
    jid: own.jid,
    status: own.status,
    output: own.output,
    skip_reason: own.skip_reason,
    back: own.back,
    deferral: own.deferral,
    code: own.code,
    message: own.message,
    stack: own.stack,
    cause: own.cause,
    delay: own.delay,
    nid: next?.id ?? null,
    nnode: next?.node ?? null,
    nposition: next?.position ?? null,
    nkey: next?.key ?? null,
    nstage: next?.stage ?? null,
    nordinal: next?.ordinal ?? null,
    nqueue: next?.job?.queue ?? null,
    ncap: next?.job?.capMs ?? null,
    ntoken: next && handOff ? handOff.token : null,
    ends: end !== null,
    final: end !== null && end !== own.output ? end : null,
    events: text,
    handed_events: next && handOff ? withStarted(text, next) : null,
  };
}

/** The events, and after them that the handed-off stage run has begun. */
function withStarted(events: JsonText, { id, key, stage }: NewStageRun): JsonText {
  const started: EngineEvent = { type: 'stage:started', stageRunId: id, node: key, stage, data: { attempt: 1 } };
  const before = events === '[]' ? '[' : `${events.slice(0, -1)},`;
  return `${before}${JSON.stringify(started)}]`;
}
