import type { EngineEvent, EngineEventType } from '../state/rows.js';
import { isAsked, type ApprovalRound } from './round.js';

type ApprovalEventType = Extract<EngineEventType, `approval:${string}`>;

/** What the world is told of a round; `round` and `stage` (of approval, from 0) are always there. */
export function approvalEvent(
  type: ApprovalEventType,
  round: Pick<ApprovalRound, 'id' | 'stageRunId' | 'node' | 'stage'>,
  data: Readonly<Record<string, unknown>>,
): EngineEvent {
  const { id, stageRunId, node, stage } = round;
  return { type, stageRunId, node, stage: 'approval', data: { round: id, stage, ...data } };
}

/** Somebody is asked: of each stage of approval when its turn comes. */
export function openedEvent(round: ApprovalRound): EngineEvent {
  const { terms, stage, expiresAt } = round;
  return approvalEvent('approval:opened', round, {
    name: terms.stages[stage]!.name,
    approvers: askedOf(round),
    expiresAt,
  });
}

/** Who has still to answer, of the stage of approval that is asked. */
export const askedOf = (round: ApprovalRound): string[] =>
  round.seats.filter((seat) => isAsked(round, seat)).map(({ holder }) => holder);
