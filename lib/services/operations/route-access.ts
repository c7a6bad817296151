import type { ContextCapture, OwnerBoundary } from '../../context/index.js';
import type { EngineReady } from '../engine-port.js';
import { runIdOf } from '../runs/run-id.js';
import type { Operations } from './operations.js';

/** A route with `@WorkflowAbility`, as it is called. */
export interface RouteRequest {
  readonly ability: string;
  /** The run that the route's parameter names; undefined where the route names none. */
  readonly run: string | undefined;
  readonly method: string;
  readonly path: string;
}

/** Lets calls of the host's own routes through, or not; what `WorkflowGuard` asks. */
export class RouteAccess {
  readonly #ready: EngineReady;
  readonly #capture: ContextCapture;
  readonly #operations: Operations;
  readonly #boundary: OwnerBoundary;

  constructor(ready: EngineReady, capture: ContextCapture, operations: Operations, boundary: OwnerBoundary) {
    this.#ready = ready;
    this.#capture = capture;
    this.#operations = operations;
    this.#boundary = boundary;
  }

  /**
   * Asks for the owner and the actor of the request, and keeps the answer. What is called in this request from now on is kept with
   * its route.
   *
   * @throws RunNotFoundError for a run of another owner, before anybody is asked; AuthorizationDeniedError; UndefinedIdError when no
   * owner comes out of `owners.resolve`
   */
  async permit({ ability, run, method, path }: RouteRequest): Promise<void> {
    const where = 'WorkflowGuard';
    const owner = await this.#capture.owner({}, where);
    const runId = run === undefined ? null : runIdOf(run, where);
    const request = { method, path };
    const asked = { ability, runId, owner, request, caller: this.#operations.caller() };
    const engine = await this.#ready();
    await this.#boundary.run(owner, () => this.#operations.permitRequest(asked, engine));
    this.#capture.enterRequest(`${method} ${path}`);
  }
}
