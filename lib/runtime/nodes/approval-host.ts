import type { ApprovalRound } from '../../engine/approvals/index.js';
import type { NewRound, RoundPlace } from '../../engine/ports/index.js';
import type { ApproverContext } from '../../interfaces/index.js';

/** What approvals need of the engine. */
export interface ApprovalHost {
  find(place: RoundPlace): Promise<ApprovalRound | undefined>;
  /** Opens the round of a visit, once; `'ended'`: the visit has ended. */
  open(place: RoundPlace, make: (budget: number) => NewRound): Promise<ApprovalRound | 'ended'>;
  /** Ends a round whose time is over. */
  expire(round: ApprovalRound): Promise<void>;
  /** Asks a resolver of the app. @throws UnknownApproversError, what it throws */
  resolve(name: string, context: ApproverContext): Promise<unknown>;
  /** The id that an actor is known by as an approver; null = nobody. */
  actorId(actor: unknown): string | null;
}
