import type { StageAuthorization, StageAuthorizer } from '../interfaces/index.js';
import type { Asking } from './asking.js';
import type { PolicyRegistry } from './policy-registry.js';
import { stageText } from './stage-text.js';
import { ALLOWED, type Verdict } from './verdict.js';

/**
 * The default authorizer: asks the policy of the ability (AUTH-2). Inject it into an authorizer of your own to add to what it
 * decides.
 *
 * No ability: allowed. Denied, with a reason: no policy serves the ability; the run acts as nobody and the policy does not
 * say `allowSystem`; the policy throws, gives no answer, or none within `authorization.timeout`.
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
  async authorize(request: StageAuthorization): Promise<{ readonly allowed: boolean; readonly reason?: string }> {
    const { ability } = request;
    if (ability === null) return ALLOWED;
    const found = this.#policies.find(ability);
    if (!found) return { allowed: false, reason: 'no policy of this app serves it' };
    return this.#asking.ask('the policy', `${stageText(request)}, for "${ability}",`, async () => {
      const policy = await this.#policies.instanceOf(found, request);
      const allowsSystem = (policy.allowSystem ?? found.allowSystem) === true;
      if ((request.actor ?? null) === null && !allowsSystem) return NOBODY;
      return policy.authorize(request);
    });
  }
}

const NOBODY: Verdict = { allowed: false, reason: 'the run acts as nobody, which the policy does not allow' };
