import type { FoundPolicy } from '../discovery/index.js';
import type { AsyncPolicyAnswer, AuthorizationRequest } from '../interfaces/index.js';
import { policyRequest, type PolicyRequest } from './question.js';

/** A policy as it is asked here: whatever its ability is named for. */
export interface AnyPolicy {
  readonly allowSystem?: boolean;
  authorize(request: AuthorizationRequest): AsyncPolicyAnswer;
}

export interface PolicyRegistryParts {
  /** By ability, as discovery found them: read anew, since lazily loaded modules bring more. */
  readonly policies: () => ReadonlyMap<string, FoundPolicy>;
  /** The provider itself, or one made for this call where something below it is request-scoped. */
  readonly resolve: (policy: FoundPolicy, request: () => PolicyRequest) => Promise<object> | object;
  /** Of the context that is open. */
  readonly ownerId: () => string | null;
}

/** Knows which policy serves an ability, and gives the instance to ask. */
export class PolicyRegistry {
  constructor(private readonly parts: PolicyRegistryParts) {}

  find(ability: string): FoundPolicy | undefined {
    return this.parts.policies().get(ability);
  }

  /** @throws what making the policy throws, for one that is made for each call */
  async instanceOf(policy: FoundPolicy, request: AuthorizationRequest): Promise<AnyPolicy> {
    const { resolve, ownerId } = this.parts;
    return (await resolve(policy, () => policyRequest(request, ownerId))) as AnyPolicy;
  }
}
