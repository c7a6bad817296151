import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  type ExecutionContext,
  HttpException,
  Injectable,
} from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { ClsService } from 'nestjs-cls';
import { type ErrorCode, WorkflowContext, WorkflowError } from 'nestjs-workflow-engine';

/** Whoever is signed in, and for whom. */
@Injectable()
export class Sessions {
  async of(
    token: string | undefined,
  ): Promise<{ readonly user: { readonly id: string }; readonly team: string } | null> {
    const [id, team] = token?.replace(/^Bearer /, '').split('@') ?? [];
    return id && team ? { user: { id }, team } : null;
  }
}

// docs/http.md shows what follows.
@Injectable()
export class SignedIn implements CanActivate {
  constructor(
    private readonly sessions: Sessions,
    private readonly cls: ClsService,
    private readonly context: WorkflowContext,
  ) {}

  async canActivate(execution: ExecutionContext) {
    const { headers } = execution.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    const session = await this.sessions.of(headers['authorization']);
    if (session === null) return false;
    this.cls.set('team', session.team); // what `owners.resolve` reads
    this.context.setActor(session.user);
    return true;
  }
}

const STATUS_OF: Readonly<Record<string, number>> = {
  RUN_NOT_FOUND: 404,
  APPROVAL_NOT_FOUND: 404,
  GRAPH_NOT_FOUND: 404,
  UNKNOWN_WORKFLOW: 404,
  AUTHORIZATION_DENIED: 403,
  NOT_AN_APPROVER: 403,
  SHARED_GRAPH: 403,
  INVALID_INPUT: 400,
  INVALID_OPTIONS: 400,
  INVALID_GRAPH: 400,
  INVALID_EVENT: 400,
  COMMENT_REQUIRED: 400,
  STAGE_UNCLEAR: 400,
  ALREADY_DECIDED: 409,
  ROUND_CLOSED: 409,
  SEAT_DECIDED: 409,
  NOTHING_TO_WITHDRAW: 409,
  DELEGATION_REFUSED: 409,
  DRAFT_CONFLICT: 409,
  WORKFLOW_ID_TAKEN: 409,
  IDEMPOTENCY_CONFLICT: 409,
  RUN_ENDED: 409,
  RUN_NOT_CANCELLABLE: 409,
  RUN_NOT_RETRYABLE: 409,
  RUN_NOT_RERUNNABLE: 409,
  RUN_NOT_MIGRATABLE: 409,
  REMINDED_TOO_SOON: 429,
  SHUTTING_DOWN: 503,
  STORE_UNAVAILABLE: 503,
} satisfies Partial<Record<ErrorCode, number>>;

@Catch(WorkflowError)
export class WorkflowErrorFilter extends BaseExceptionFilter {
  override catch(error: WorkflowError, host: ArgumentsHost) {
    const { code, message, params } = error;
    const status = STATUS_OF[code];
    // What is left is a fault of the app: Nest logs it, and answers 500 without a word of it.
    super.catch(status === undefined ? error : new HttpException({ code, message, params }, status), host);
  }
}
