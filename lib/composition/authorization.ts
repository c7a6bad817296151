import {
  Asking,
  AuthorizerGate,
  PolicyRegistry,
  PolicyStageAuthorizer,
  type GetAuthorizer,
} from '../authorization/index.js';
import { Deadlines } from '../runtime/background/deadlines.js';
import type { StageGate } from '../runtime/execution/stage-gate.js';
import { findAuthorizer } from './find-authorizer.js';
import type { RuntimeParts } from './runtime-parts.js';

/** Puts together who is asked before stages: the policies that discovery finds, or the host's own authorizer. */
export class Authorization {
  /** For hosts to inject: the policies. */
  readonly policies: PolicyStageAuthorizer;
  readonly #parts: RuntimeParts;
  readonly #asking: Asking;

  constructor(parts: RuntimeParts) {
    const { options, registry, resolver, scope, log } = parts;
    this.#parts = parts;
    this.#asking = new Asking({ timeoutMs: options.authorization.timeoutMs, limits: new Deadlines(), log });
    const found = new PolicyRegistry({
      policies: () => registry.policies,
      resolve: ({ provider }, request) => resolver.resolve(provider, request),
      ownerId: () => (scope.read('ownerId') as string | null | undefined) ?? null,
    });
    this.policies = new PolicyStageAuthorizer(found, this.#asking);
  }

  /**
   * What the runtime asks. Once the providers are there.
   *
   * @throws InvalidOptionsError when `authorization.authorizer` names a class that is no authorizer of this app
   */
  gate(): StageGate {
    const own = this.#own();
    this.#warn(own !== null);
    const { abilities } = this.#parts.options.authorization;
    return new AuthorizerGate({ policies: this.policies, own, abilities, asking: this.#asking });
  }

  #own(): GetAuthorizer | null {
    const { modules, options, resolver } = this.#parts;
    const { authorizer } = options.authorization;
    if (authorizer === null) return null;
    return typeof authorizer === 'function' ? findAuthorizer(authorizer, modules, resolver) : () => authorizer;
  }

  /** No errors: a module that is loaded later may bring what is missing. Until then stages are denied. */
  #warn(hasOwn: boolean): void {
    const { log, options, registry } = this.#parts;
    const { abilities } = options.authorization;
    for (const id of Object.keys(abilities).filter((stage) => !registry.stages.has(stage))) {
      log.warn(`authorization.abilities names the stage "${id}", which this app does not have.`);
    }
    if (hasOwn) return;
    for (const { id, ability: own, provider } of registry.stages.values()) {
      const ability = Object.hasOwn(abilities, id) ? abilities[id]! : own;
      if (ability === null || registry.policies.has(ability)) continue;
      log.warn(
        `${provider.place} asks for "${ability}", which no @WorkflowPolicy of this app serves: it will be denied.`,
      );
    }
  }
}
