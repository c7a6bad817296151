import type { WorkflowError } from '../../errors/index.js';
import type { EngineEvent } from '../state/rows.js';
import type { ApprovalRound, Decision, Handover, RoundStatus, Seat } from './round.js';

/** What is to be written of a round, under the lock of its run. What is left out stays. */
export interface RoundChange {
  readonly decision?: Omit<Decision, 'at' | 'withdrawn'>;
  /** Id of the decision that is taken back. */
  readonly withdrawn?: string;
  readonly seat?: SeatChange;
  /** Seats that come to those there are. */
  readonly added?: readonly Seat[];
  /** The next stage of approval is asked. */
  readonly stage?: number;
  readonly ended?: RoundEnd;
  readonly reminded?: boolean;
  readonly events: readonly EngineEvent[];
}

export interface SeatChange {
  readonly stage: number;
  readonly approver: string;
  readonly holder: string;
  readonly path: readonly Handover[];
}

export interface RoundEnd {
  readonly status: Exclude<RoundStatus, 'open'>;
  readonly by: string | null;
  readonly reason: string | null;
}

/** What becomes of something that was asked of a round. */
export type RoundAnswer =
  | { readonly kind: 'changed'; readonly change: RoundChange }
  /** It was done before, by the same person in the same way: nothing is written. */
  | { readonly kind: 'repeated' }
  | { readonly kind: 'refused'; readonly error: WorkflowError };

export const changed = (change: RoundChange): RoundAnswer => ({ kind: 'changed', change });
export const refused = (error: WorkflowError): RoundAnswer => ({ kind: 'refused', error });
export const REPEATED: RoundAnswer = Object.freeze({ kind: 'repeated' });

/** The round as it is once a change is written; `at` is the instant of the transaction. */
export function changedRound(round: ApprovalRound, change: RoundChange, at: string): ApprovalRound {
  const { decision, withdrawn, seat, added = [], stage = round.stage, ended, reminded = false } = change;
  return {
    ...round,
    stage,
    decisions: [
      ...round.decisions.map((one) => (one.id === withdrawn ? { ...one, withdrawn: true } : one)),
      ...(decision ? [{ ...decision, at, withdrawn: false }] : []),
    ],
    seats: seatsAfter(round.seats, seat, added),
    ...(reminded && { remindedAt: at }),
    ...(ended && { status: ended.status, endedAt: at, endedBy: ended.by, endReason: ended.reason }),
  };
}

/** In the order of the stages of approval; those that come stand last in theirs. */
function seatsAfter(seats: readonly Seat[], moved: SeatChange | undefined, added: readonly Seat[]): readonly Seat[] {
  const there = moved ? seats.map((one) => movedSeat(one, moved)) : seats;
  return added.length === 0 ? there : [...there, ...added].sort((a, b) => a.stage - b.stage);
}

const movedSeat = (seat: Seat, to: SeatChange): Seat =>
  seat.stage === to.stage && seat.approver === to.approver ? { ...seat, holder: to.holder, path: to.path } : seat;
