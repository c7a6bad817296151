import type { LinearRecord } from '../../engine/ports/index.js';
import type { EngineEvent, JsonText, NewStageRun } from '../../engine/state/rows.js';
import type { RecordRow } from '../dialects/postgres/statements/record.js';
import { outcomeRow } from './outcome-row.js';

/**
 * Whether a record fits the one-statement form: it goes back to PENDING, or one PENDING stage run, at its first visit, or the end of
 * a completed run follows. Fan-outs, skipped nodes, failed conditions and outcomes with a name take the joined form.
 */
export function isPlain({ outcome, transition }: LinearRecord): boolean {
  if (outcome.kind === 'failed' || (outcome.kind === 'completed' && outcome.outcome !== undefined)) return false;
  if (!transition) return outcome.kind === 'retry' || outcome.kind === 'released';
  if (
    transition.visits.length > 0 ||
    transition.cancelOpen ||
    transition.reopened.length > 0 ||
    transition.requeued.length > 0
  )
    return false;
  if (transition.run) return transition.run.to === 'COMPLETED' && transition.stageRuns.length === 0;
  const [next, ...others] = transition.stageRuns;
  return others.length === 0 && next!.status === 'PENDING' && next!.visit === 1;
}

/** Whether it is one statement and nothing more. */
export const isBare = (record: LinearRecord): boolean => !record.beside && isPlain(record);

/** Written out, column by column: rows of one shape, and no copies, a hundred thousand times a minute. */
export function recordRow({ lease, outcome, transition, events, handOff }: LinearRecord): RecordRow {
  const own = outcomeRow(lease, outcome);
  const next = transition?.stageRuns[0];
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
