import {
  ForbiddenException,
  Inject,
  Injectable,
  NotFoundException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InvalidOptionsError, WorkflowError } from '../errors/index.js';
import type { AuthorizationDeniedParams } from '../errors/access.errors.js';
import type { RouteAccess } from '../services/operations/route-access.js';
import { WORKFLOW_ABILITY_METADATA, WORKFLOW_ROUTE_ACCESS } from '../workflow.constants.js';

/** The request of whichever HTTP adapter, told by its shape. */
interface HttpRequest {
  readonly method: string;
  readonly originalUrl?: string;
  readonly url: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface RouteAbility {
  readonly ability: unknown;
  readonly run: unknown;
}

/**
 * Asks the authorizer before a route with `@WorkflowAbility` is called, for the owner and the actor of the request and the run that
 * the route names; kept in the audit like any operator's call. Other routes pass.
 *
 * Answers 403 with the reason when it is denied, 404 for a run of another owner, which nobody is asked about. What sets owner and actor
 * has to come before it: a middleware, or a guard that is named first.
 *
 * @publicApi
 */
@Injectable()
export class WorkflowGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(WORKFLOW_ROUTE_ACCESS) private readonly access: RouteAccess,
  ) {}

  /**
   * @throws ForbiddenException, NotFoundException; InvalidOptionsError where `@WorkflowAbility` stands on what is no HTTP route, or
   * names a parameter that the route does not have; what keeps the audit from being written: nothing is let through then
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()];
    const named = this.reflector.getAllAndOverride<RouteAbility | undefined>(WORKFLOW_ABILITY_METADATA, places);
    if (named === undefined) return true;
    const place = `${context.getClass().name}.${context.getHandler().name}`;
    if (context.getType() !== 'http') throw refused(place, `guards HTTP routes only, and this is ${context.getType()}`);
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const ability = textOf(named.ability, place, 'must name an ability');
    const run = named.run === undefined ? undefined : runOf(request, named.run, place);
    const path = (request.originalUrl ?? request.url).replace(/[?#].*$/s, '');
    try {
      await this.access.permit({ ability, run, method: request.method, path });
      return true;
    } catch (error) {
      throw answerOf(error);
    }
  }
}

function runOf({ params }: HttpRequest, name: unknown, place: string): string {
  const parameter = textOf(name, place, 'must name a parameter of the route as `run`');
  return textOf(params?.[parameter], place, `names the parameter "${parameter}", which this route does not have`);
}

function textOf(value: unknown, place: string, message: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw refused(place, message);
}

function refused(place: string, message: string): InvalidOptionsError {
  return new InvalidOptionsError({ where: place, problems: [{ path: '@WorkflowAbility', message }] });
}

/** What HTTP says to it; what is neither a no nor a missing run stays what it is. */
function answerOf(error: unknown): unknown {
  if (!WorkflowError.is(error)) return error;
  const { code, message, params } = error;
  if (code === 'RUN_NOT_FOUND')
    return new NotFoundException({ statusCode: 404, error: 'Not Found', code, message }, { cause: error });
  if (code !== 'AUTHORIZATION_DENIED') return error;
  const { reason = null } = params as AuthorizationDeniedParams;
  return new ForbiddenException({ statusCode: 403, error: 'Forbidden', code, message, reason }, { cause: error });
}
