import type { AuthorizationRequest, StageAuthorization, StageAuthorizer } from '../interfaces/index.js';
import type { RuntimeStageType } from '../runtime/execution/definition-source.js';
import type { GateAnswer, StageGate } from '../runtime/execution/stage-gate.js';
import type { Asking } from './asking.js';
import type { PolicyStageAuthorizer } from './policy-stage-authorizer.js';
import { questionText } from './question.js';

/** The host's own authorizer, made for the call where it is request-scoped. */
export type GetAuthorizer = (request: AuthorizationRequest) => Promise<StageAuthorizer> | StageAuthorizer;

export interface AuthorizerGateParts {
  readonly policies: PolicyStageAuthorizer;
  /** Instead of the default one; null where the host has none. */
  readonly own: GetAuthorizer | null;
  /** `authorization.abilities`: by stage id, before what `@Stage` says. */
  readonly abilities: Readonly<Record<string, string | null>>;
  readonly asking: Asking;
}

/** The authorizer as the runtime asks it: the host's own, which gets every call, else the policies (AUTH-1, AUTH-2). */
export class AuthorizerGate implements StageGate {
  constructor(private readonly parts: AuthorizerGateParts) {}

  /**
   * Without an authorizer of the host's nobody is asked where no ability is named: the answer is known. A stage without side
   * effects is asked about only where an ability is named for it.
   */
  abilityOf({ id, ability: own, sideEffect }: RuntimeStageType): string | null | undefined {
    const { abilities } = this.parts;
    const ability = Object.hasOwn(abilities, id) ? abilities[id]! : own;
    if (ability !== null) return ability;
    return this.parts.own && sideEffect ? null : undefined;
  }

  check(request: StageAuthorization): Promise<GateAnswer> {
    const { own, policies, asking } = this.parts;
    if (!own) return policies.authorize(request) as Promise<GateAnswer>;
    return asking.ask('the authorizer', questionText(request), async () => (await own(request)).authorize(request));
  }
}
