import type { DecideSettled, JoinedRecord, LinearRecord, SettleEvent } from '../../engine/ports/index.js';
import type { FailureRecord } from '../../engine/codec/index.js';
import type { EngineEvent, StageOutcome, Transition } from '../../engine/state/rows.js';
import type { OutcomeAnswer } from '../dialects/postgres/statements/store-outcomes.js';
import type { RunOutcomes } from './settlement.js';

export type Attempted = Pick<LinearRecord, 'lease' | 'attempt' | 'beside'>;

/** A record on its way through the joined form. */
export interface Joinable extends Attempted {
  readonly outcome: StageOutcome;
  readonly events: readonly EngineEvent[];
  readonly key: string;
  readonly node: string;
  readonly visit: number;
  readonly decide: DecideSettled;
}

export function fromJoined(record: JoinedRecord, decide: DecideSettled): Joinable {
  return { ...record, key: record.key, decide };
}

/** What follows was decided by the caller; it is written where the outcome was. */
export function fromLinear({ lease, attempt, outcome, transition, events, beside }: LinearRecord): Joinable {
  return { lease, attempt, outcome, events, beside, key: '', node: '', visit: 0, decide: () => transition ?? NOTHING };
}

const NOTHING: Transition = {
  run: null,
  stageRuns: [],
  reopened: [],
  requeued: [],
  visits: [],
  events: [],
  cancelOpen: false,
  cancelJobs: [],
};

export function settledBy(
  { outcome, lease, key, node, visit }: Joinable,
  { open, escalated }: OutcomeAnswer,
): SettleEvent | null {
  if (outcome.kind === 'failed') return failureOf(lease.stageRunId, key, outcome.failure, escalated);
  if (outcome.kind !== 'completed' && outcome.kind !== 'skipped') return null;
  if (escalated) return { type: 'escalation-ended', stageRunId: lease.stageRunId, failure: null };
  return open === null || open === 0 ? { type: 'node-settled', node, visit } : null;
}

/** A failure for good: of a stage, which fails its run, or of an escalation, which does not. */
export function failureOf(
  stageRunId: string,
  key: string,
  failure: FailureRecord,
  escalated: boolean | null,
): SettleEvent {
  return escalated
    ? { type: 'escalation-ended', stageRunId, failure }
    : { type: 'stage-failed', stageRunId, key, failure };
}

/** Outcomes by run; a node's end that several report counts once. */
export function groupByRun(
  items: readonly { runId: string; events: readonly EngineEvent[]; settled: SettleEvent | null }[],
): RunOutcomes[] {
  const runs = new Map<string, { runId: string; events: EngineEvent[]; settled: SettleEvent[] }>();
  for (const { runId, events, settled } of items) {
    const run = runs.get(runId) ?? { runId, events: [], settled: [] };
    runs.set(runId, run);
    run.events.push(...events);
    if (settled && !run.settled.some((other) => isSame(other, settled))) run.settled.push(settled);
  }
  return [...runs.values()];
}

function isSame(a: SettleEvent, b: SettleEvent): boolean {
  if (a.type === 'node-settled') return b.type === 'node-settled' && a.node === b.node && a.visit === b.visit;
  return b.type === a.type && a.stageRunId === b.stageRunId;
}
