import type { LinearRecord } from '../../engine/ports/index.js';
import type { EngineEvent } from '../../engine/state/rows.js';
import type { RecordRow } from '../dialects/postgres/statements/record.js';
import { outcomeRow } from './outcome-row.js';

/**
 * Whether a record fits the one-statement form: it goes back to PENDING, or one PENDING stage run or the end of a completed
 * run follows. Fan-outs, skipped nodes and failed conditions take the joined form.
 */
export function isPlain({ outcome, transition }: LinearRecord): boolean {
  if (outcome.kind === 'failed') return false;
  if (!transition) return outcome.kind === 'retry' || outcome.kind === 'released';
  if (
    transition.visits.length > 0 ||
    transition.cancelOpen ||
    transition.reopened.length > 0 ||
    transition.requeued.length > 0
  )
    return false;
  if (transition.run) return transition.run.to === 'COMPLETED' && transition.stageRuns.length === 0;
  return transition.stageRuns.length === 1 && transition.stageRuns[0]!.status === 'PENDING';
}

export function recordRow({ lease, outcome, transition, events, handOff }: LinearRecord): RecordRow {
  const next = transition?.stageRuns[0];
  const end = transition?.run?.to === 'COMPLETED' ? transition.run.output : null;
  const told: EngineEvent[] = [...events, ...(transition?.events ?? [])];
  const started: EngineEvent | undefined = next && {
    type: 'stage:started',
    stageRunId: next.id,
    node: next.key,
    stage: next.stage,
    data: { attempt: 1 },
  };
  const output = outcome.kind === 'completed' ? outcome.output : null;
  return {
    ...outcomeRow(lease, outcome),
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
    final: end !== null && end !== output ? end : null,
    events: JSON.stringify(told),
    handed_events: next && handOff && started ? JSON.stringify([...told, started]) : null,
  };
}
