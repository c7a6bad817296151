import { decodeJson } from '../codec/json.js';
import type { SettleEvent } from '../ports/work-store.js';
import { escalationLevel, isEscalation } from './escalation-key.js';
import type { EngineEvent, RunState, StageRunState, Transition } from './rows.js';

type EscalationEnded = Extract<SettleEvent, { type: 'escalation-ended' }>;

/** What a notification came to, as its stage run keeps it. */
export interface Notified {
  /** Ids of people. */
  readonly to: readonly string[];
  readonly message: string | null;
}

/** What is told of escalations that have ended: about the visit that they stand beside, whatever became of that one. */
export function escalationEvents(
  state: RunState,
  events: readonly SettleEvent[],
  { leftBy = {} }: Pick<Transition, 'leftBy'>,
): EngineEvent[] {
  return events.flatMap((event) => (event.type === 'escalation-ended' ? eventsOf(state, event, leftBy) : []));
}

function eventsOf(
  state: RunState,
  { stageRunId, failure }: EscalationEnded,
  leftBy: Readonly<Record<string, string>>,
): EngineEvent[] {
  const escalation = state.stageRuns.find(({ id }) => id === stageRunId);
  const visit = escalation && visitOf(state, escalation);
  if (!visit) return [];
  const { key, stage: action, status, output, outcome } = escalation;
  const about = { stageRunId: visit.id, node: visit.key, stage: visit.stage };
  const data = { escalation: stageRunId, level: escalationLevel(key), action };
  if (failure) {
    const { code, message } = failure;
    return [{ type: 'escalation:failed', ...about, data: { ...data, code, message } }];
  }
  if (status === 'SKIPPED') return [{ type: 'escalation:fired', ...about, data: { ...data, skipped: true } }];
  if (action === 'take_edge') {
    const taken = outcome ? leftBy[visit.id] === outcome : false;
    return [{ type: 'escalation:fired', ...about, data: { ...data, outcome, taken } }];
  }
  const fired: EngineEvent = { type: 'escalation:fired', ...about, data };
  if (action !== 'notify') return [fired];
  const { to, message } = decodeJson(output ?? '{}', `The output of ${key}`) as Notified;
  return [fired, { type: 'escalation:notified', ...about, data: { ...data, to, message } }];
}

function visitOf(state: RunState, { node, visit }: StageRunState): StageRunState | undefined {
  return state.stageRuns.find((one) => one.node === node && one.visit === visit && !isEscalation(one));
}
