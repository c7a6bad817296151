import type { ApprovalRound, RoundAnswer } from '../../engine/approvals/index.js';
import type { AuditEntry, NewRound, RoundPlace } from '../../engine/ports/index.js';
import type { WorkflowError } from '../../errors/index.js';
import type { ApproverContext } from '../../interfaces/index.js';

/** A round after something was asked of it. */
export interface RoundResult {
  readonly round: ApprovalRound;
  /** It was so before: nothing was written. */
  readonly repeated: boolean;
  /** It was refused. */
  readonly error: WorkflowError | null;
}

/** What approvals need of the engine. */
export interface ApprovalHost {
  find(place: RoundPlace): Promise<ApprovalRound | undefined>;
  /** The round of the visit that an escalation stands beside. */
  beside(place: RoundPlace): Promise<ApprovalRound | undefined>;
  /** Opens the round of a visit, once; `'ended'`: the visit has ended. */
  open(place: RoundPlace, make: (budget: number) => NewRound): Promise<ApprovalRound | 'ended'>;
  /** Ends a round whose time is over. */
  expire(round: ApprovalRound): Promise<void>;
  /** Changes a round, or not; what is kept of that is a part of it. */
  change(
    round: ApprovalRound,
    decide: (round: ApprovalRound) => RoundAnswer,
    audit: (result: RoundResult) => AuditEntry,
  ): Promise<RoundResult>;
  /** Asks a resolver of the app. @throws UnknownApproversError, what it throws */
  resolve(name: string, context: ApproverContext): Promise<unknown>;
  /** The id that an actor is known by as an approver; null = nobody. */
  actorId(actor: unknown): string | null;
}
