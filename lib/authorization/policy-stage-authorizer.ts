import type { AuthorizationRequest, StageAuthorizer } from '../interfaces/index.js';
import type { Asking } from './asking.js';
import type { PolicyRegistry } from './policy-registry.js';
import { questionText } from './question.js';
import { ALLOWED, type Verdict } from './verdict.js';

/**
 * The default authorizer: asks the policy of the ability (AUTH-2). Inject it into an authorizer of your own to add to what it
 * decides.
 *
 * No ability: allowed. Denied, with a reason: no policy serves the ability; the run acts as nobody, or nobody is said to call, and
 * the policy does not say `allowSystem`; the policy throws, gives no answer, or none within `authorization.timeout`.
 *
 * @publicApi
 */
export class PolicyStageAuthorizer implements StageAuthorizer {
  readonly #policies: PolicyRegistry;
  readonly #asking: Asking;

  constructor(policies: PolicyRegistry, asking: Asking) {
    this.#policies = policies;
    this.#asking = asking;
  }

  /** Never rejects. */
  async authorize(request: AuthorizationRequest): Promise<{ readonly allowed: boolean; readonly reason?: string }> {
    const { ability } = request;
    if (ability === null) return ALLOWED;
    const found = this.#policies.find(ability);
    if (!found) return { allowed: false, reason: 'no policy of this app serves it' };
    return this.#asking.ask('the policy', `${questionText(request)}, for "${ability}",`, async () => {
      const policy = await this.#policies.instanceOf(found, request);
      const allowsSystem = (policy.allowSystem ?? found.allowSystem) === true;
      if ((request.actor ?? null) === null && !allowsSystem)
        return request.kind === 'stage' ? NOBODY_ACTS : NOBODY_CALLS;
      return policy.authorize(request);
    });
  }
}

const NOBODY_ACTS: Verdict = { allowed: false, reason: 'the run acts as nobody, which the policy does not allow' };
const NOBODY_CALLS: Verdict = { allowed: false, reason: 'no actor is set here, which the policy does not allow' };
