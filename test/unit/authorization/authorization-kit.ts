import { Asking, PolicyRegistry, PolicyStageAuthorizer } from '../../../lib/authorization/index.js';
import type { FoundPolicy } from '../../../lib/discovery/index.js';
import type { StageAuthorization } from '../../../lib/interfaces/index.js';
import { Deadlines } from '../../../lib/runtime/background/deadlines.js';
import { CollectedLog } from '../runtime/support/collected-log.js';

export const TIMEOUT_MS = 10_000;

export const request = (changes: Partial<StageAuthorization> = {}): StageAuthorization => ({
  kind: 'stage',
  run: { id: 'run-1', definition: 'expenses', version: 1, subject: null, input: null },
  stage: { id: 'pay', runId: 'stage-1', key: 'pay', node: 'pay' },
  actor: { id: 'ada' },
  owner: 'team-a',
  subject: null,
  ability: 'expenses.pay',
  attempt: 1,
  phase: 'execute',
  ...changes,
});

export interface GivenPolicy {
  readonly policy: unknown;
  readonly allowSystem?: boolean;
}

/** The default authorizer over one policy of `expenses.pay`; none where nothing is given. */
export function authorizerKit(given?: GivenPolicy) {
  const log = new CollectedLog();
  const asking = new Asking({ timeoutMs: TIMEOUT_MS, limits: new Deadlines(() => Date.now()), log });
  const found = { allowSystem: given?.allowSystem } as FoundPolicy;
  const resolve = async (): Promise<object> => {
    if (given?.policy instanceof Error) throw given.policy;
    return given?.policy as object;
  };
  const registry = new PolicyRegistry({
    policies: () => new Map(given ? [['expenses.pay', found]] : []),
    resolve,
    ownerId: () => 'team-a',
  });
  return { authorizer: new PolicyStageAuthorizer(registry, asking), asking, log };
}
