import type { ApproverInput } from '../engine/approvals/index.js';
import type { RunInfo } from './stage-context.js';

/**
 * Says who is to decide: a provider, or an object, under `approvals.resolvers` of the module, by the name that graphs know it by:
 * `"approvers": "approvers.financeLeads"`.
 *
 * Asked when an approval is entered, on what is true then, inside the context of the run's owner and on nobody's behalf. What it
 * answers is kept in the round: who becomes a lead tomorrow is not asked today. What it throws fails the attempt, which is tried again
 * as any other; an empty list fails the stage with `NO_APPROVERS`.
 *
 * @publicApi
 */
export interface ApproverResolver {
  /** Ids of people, as `approvals.actorId` gives them; or more of them, with a group or a weight. */
  resolve(context: ApproverContext): readonly ApproverInput[] | Promise<readonly ApproverInput[]>;
}

/** For what approvers are wanted. */
export interface ApproverContext {
  /** Key of the approval. */
  readonly node: string;
  readonly run: RunInfo;
  /** What `owners.load` made of whom the run belongs to, or null. */
  readonly owner: unknown;
  /** Who started the run; null = nobody that is known. */
  readonly requester: unknown;
  /** What the run is about, loaded now; null where it is about nothing. */
  subject(): Promise<unknown>;
}
