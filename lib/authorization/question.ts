import type {
  AuthorizationRequest,
  DefinitionAuthorization,
  OperationAuthorization,
  RequestAuthorization,
  StageAuthorization,
} from '../interfaces/index.js';

/** Of any of the questions what says which one it is. */
type Named =
  | StageAuthorization
  | Omit<OperationAuthorization, 'owner'>
  | Omit<DefinitionAuthorization, 'owner'>
  | Omit<RequestAuthorization, 'owner'>;

/** What is asked about, as the log names it. */
export function questionText(request: Named): string {
  switch (request.kind) {
    case 'stage':
      return `${request.escalation ? 'Escalation' : 'Stage'} ${request.stage.key} (${request.stage.runId}) of run ${request.run.id}`;
    case 'operation':
      return `Operation ${request.operation} on run ${request.run.id}`;
    case 'definition':
      return `Operation ${request.operation} on workflow ${request.definition.id}`;
    case 'request':
      return `${request.request.method} ${request.request.path}`;
  }
}

/**
 * What dependency injection is given as `REQUEST` in a policy, or an authorizer, that is made for one call: of a stage the same as
 * in the stage.
 */
export type PolicyRequest =
  | { readonly runId: string; readonly stageRunId: string; readonly attempt: number; readonly ownerId: string | null }
  | { readonly runId: string | null; readonly operation: string; readonly ownerId: string | null };

export function policyRequest(request: AuthorizationRequest, contextOwner: () => string | null): PolicyRequest {
  if (request.kind === 'definition') {
    const { operation, definition } = request;
    return { runId: null, operation, ownerId: definition.owner };
  }
  const { kind, run } = request;
  if (kind === 'stage') {
    const { stage, attempt } = request;
    return { runId: run.id, stageRunId: stage.runId, attempt, ownerId: contextOwner() };
  }
  const operation = kind === 'operation' ? request.operation : kind;
  return { runId: run?.id ?? null, operation, ownerId: run ? run.owner : contextOwner() };
}
