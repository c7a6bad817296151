import type { FoundPolicy } from '../discovery/index.js';
import type { StageAuthorization, StagePolicy } from '../interfaces/index.js';

/** What dependency injection is given as `REQUEST` in a policy that is made for one call: the same as in a stage. */
export interface PolicyRequest {
  readonly runId: string;
  readonly stageRunId: string;
  readonly attempt: number;
  readonly ownerId: string | null;
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
  async instanceOf(policy: FoundPolicy, { run, stage, attempt }: StageAuthorization): Promise<StagePolicy> {
    const { resolve, ownerId } = this.parts;
    const request = (): PolicyRequest => ({ runId: run.id, stageRunId: stage.runId, attempt, ownerId: ownerId() });
    return (await resolve(policy, request)) as StagePolicy;
  }
}
