import type { AuthorizationRequest } from './operation-authorization.js';
import type { RunInfo, StageInfo } from './stage-context.js';

/** What an authorizer, or a policy, is asked: may this stage go on now (AUTH-1)? */
export interface StageAuthorization {
  readonly kind: 'stage';
  readonly run: RunInfo;
  readonly stage: StageInfo;
  /** On whose behalf the run acts: what `systemActor` returns, or the one who started the run, or null. */
  readonly actor: unknown;
  /** Who the run belongs to: what `owners.load` made of the stored id, the id itself without it, or null. */
  readonly owner: unknown;
  /** What the run is about, as it was just loaded; null where it is about nothing, or `run.subject` is a name that nobody loads. */
  readonly subject: unknown;
  /** What `authorization.abilities` or `@Stage` says of the stage; null where neither does. */
  readonly ability: string | null;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * What is about to be called: `execute` from its beginning, a retry too; `execute` again after a wait (`'resume'`); or
   * `checkCompletion` of a stage that suspended itself.
   */
  readonly phase: 'execute' | 'resume' | 'completion';
  /**
   * It is asked for an escalation of a graph's node, whose time has come: `level` is the how-manieth of the node, from 1, `action` its
   * type, as `stage.id` is. A denial fails the escalation alone. Left out: it is asked for the stage of a node.
   */
  readonly escalation?: { readonly level: number; readonly action: string };
}

/** Anything else, undefined too, is no answer, and denies. `reason` is stored with the failed stage: nothing secret. */
export type PolicyAnswer = boolean | { readonly allowed: boolean; readonly reason?: string };

/** As guards answer: of an Observable its last value counts. */
export type AsyncPolicyAnswer = PolicyAnswer | PromiseLike<PolicyAnswer> | ObservableAnswer;

/** An Observable, told by its shape: of whichever copy of rxjs the host has. */
export interface ObservableAnswer {
  subscribe(observer: { next: (value: PolicyAnswer) => void; error: (error: unknown) => void; complete: () => void }): {
    unsubscribe(): void;
  };
}

/** A provider with `@WorkflowPolicy(ability)`: says who may do what the ability names. */
export interface StagePolicy {
  /** Whether it is asked about runs that act as nobody; else they are denied. @default what `@WorkflowPolicy` says, else false */
  readonly allowSystem?: boolean;

  /** Called within the run's context, before each call of the stage. Throwing, or not answering in time, denies. */
  authorize(request: StageAuthorization): AsyncPolicyAnswer;
}

/**
 * Decides about every stage with side effects, every operator's call and every guarded route, whether an ability is named or not.
 * Fails closed, as policies do.
 */
export interface StageAuthorizer {
  authorize(request: AuthorizationRequest): AsyncPolicyAnswer;
}

/** What `@WorkflowPolicy` takes beside the ability. */
export interface WorkflowPolicyOptions {
  /** Whether the policy is asked about runs that act as nobody; else they are denied. @default false */
  readonly allowSystem?: boolean;
}
