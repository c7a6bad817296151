import type { SubjectName } from '../engine/ports/step-store.js';
import type { RunStatus } from '../engine/state/statuses.js';
import type { AsyncPolicyAnswer, StageAuthorization } from './stage-authorization.js';

/** What people and other systems do to runs that exist: each of these is asked about, and kept in the audit (AUTH-5). */
export type RunOperation = 'cancel' | 'terminate' | 'retry' | 'rerunFrom' | 'migrateRun' | 'signal' | ApprovalOperation;

/** What people do to the approvals of runs; `closeApproval` ends a round from outside. */
export type ApprovalOperation = 'decide' | 'delegate' | 'revoke' | 'withdraw' | 'closeApproval' | 'remind';

/** What people do to graphs: each of these is asked about, and kept in the audit (AUTH-5). */
export type DefinitionOperation = 'saveDraft' | 'publish' | 'retire';

/** Whatever may have an ability in `authorization.operations`. */
export type Operation = RunOperation | DefinitionOperation;

/** The run that is asked about, as it was a moment ago. */
export interface OperatedRun {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
  readonly status: RunStatus;
  /** The stored id of whom it belongs to; null = nobody. */
  readonly owner: string | null;
  /** What it is about, by type and id; null where it names nothing. */
  readonly subject: SubjectName | null;
}

/** Asked before a call of `WorkflowService`, of `ApprovalsService`, or of an `asOperator()`, changes a run. */
export interface OperationAuthorization {
  readonly kind: 'operation';
  readonly operation: RunOperation;
  readonly run: OperatedRun;
  /** Who calls: `WorkflowContext.setActor` of this request; inside a stage whom its run acts for; null = nobody. */
  readonly actor: unknown;
  /** Whom the run belongs to: what `owners.load` made of the stored id, the id itself without it, or null. */
  readonly owner: unknown;
  /** What `authorization.operations` says of the operation; null where it says nothing. */
  readonly ability: string | null;
  /** What the caller gave as the reason, or null. */
  readonly reason: string | null;
}

/** Asked before a call of `DefinitionsService`, or of its `asOperator()`, changes a graph. */
export interface DefinitionAuthorization {
  readonly kind: 'definition';
  readonly operation: DefinitionOperation;
  readonly definition: {
    readonly id: string;
    /** The version that is retired; null: all of them, or one that is yet to be made. */
    readonly version: number | null;
    /** The stored id of whom it belongs to; null = all owners share it. */
    readonly owner: string | null;
  };
  readonly actor: unknown;
  /** Whom it belongs to: what `owners.load` made of the stored id, the id itself without it, or null. */
  readonly owner: unknown;
  readonly ability: string | null;
  /** The note that it is saved or published with, the reason that it is retired for; or null. */
  readonly reason: string | null;
}

/** Asked before a controller's method with `@WorkflowAbility` is called. */
export interface RequestAuthorization {
  readonly kind: 'request';
  readonly request: { readonly method: string; readonly path: string };
  /** The run that the route's parameter names; null where the route names none. */
  readonly run: OperatedRun | null;
  readonly actor: unknown;
  /** Of the run; without one, of the request. */
  readonly owner: unknown;
  readonly ability: string;
}

/**
 * All that an authorizer is asked, told apart by `kind`. There will be more kinds: answer no to one that you don't know.
 */
export type AuthorizationRequest =
  StageAuthorization | OperationAuthorization | DefinitionAuthorization | RequestAuthorization;

/** A provider with `@WorkflowPolicy(ability)` for an ability that operations, or routes, are asked by. */
export interface OperationPolicy {
  /** Whether it is asked where nobody is said to call; else that is denied. @default what `@WorkflowPolicy` says, else false */
  readonly allowSystem?: boolean;

  /** Called in the caller's context, before anything is written. Throwing, or not answering in time, denies. */
  authorize(request: OperationAuthorization | DefinitionAuthorization | RequestAuthorization): AsyncPolicyAnswer;
}
