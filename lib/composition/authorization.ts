import {
  Asking,
  AuthorizerGate,
  AuthorizerOperationGate,
  PolicyRegistry,
  PolicyStageAuthorizer,
  type GetAuthorizer,
} from '../authorization/index.js';
import { Deadlines } from '../runtime/background/deadlines.js';
import { actionType, builtInType } from '../runtime/nodes/index.js';
import type { StageGate } from '../runtime/execution/stage-gate.js';
import type { OperationGate } from '../services/operations/operation-gate.js';
import { findAuthorizer } from './find-authorizer.js';
import type { RuntimeParts } from './runtime-parts.js';

/** Puts together who is asked before stages: the policies that discovery finds, or the host's own authorizer. */
export class Authorization {
  /** For hosts to inject: the policies. */
  readonly policies: PolicyStageAuthorizer;
  readonly #parts: RuntimeParts;
  readonly #asking: Asking;
  readonly #ownerId: () => string | null;
  #operations: OperationGate | undefined;

  constructor(parts: RuntimeParts) {
    const { options, registry, resolver, scope, log } = parts;
    this.#parts = parts;
    this.#asking = new Asking({ timeoutMs: options.authorization.timeoutMs, limits: new Deadlines(), log });
    this.#ownerId = () => (scope.read('ownerId') as string | null | undefined) ?? null;
    const found = new PolicyRegistry({
      policies: () => registry.policies,
      resolve: ({ provider }, request) => resolver.resolve(provider, request),
      ownerId: this.#ownerId,
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
    const { authorization, owners } = this.#parts.options;
    const parts = { policies: this.policies, own, asking: this.#asking };
    const loadOwner = owners.load ?? ((id: string): unknown => id);
    this.#operations = new AuthorizerOperationGate({ ...parts, operations: authorization.operations, loadOwner });
    return new AuthorizerGate({ ...parts, abilities: authorization.abilities });
  }

  /** What operators' calls ask. There once `gate` was made. */
  operations(): OperationGate {
    return this.#operations!;
  }

  #own(): GetAuthorizer | null {
    const { modules, options, resolver } = this.#parts;
    const { authorizer } = options.authorization;
    if (authorizer === null) return null;
    return typeof authorizer === 'function'
      ? findAuthorizer(authorizer, modules, resolver, this.#ownerId)
      : () => authorizer;
  }

  /** No errors: a module that is loaded later may bring what is missing. Until then stages are denied. */
  #warn(hasOwn: boolean): void {
    const { log, options, registry } = this.#parts;
    const { abilities, operations } = options.authorization;
    for (const id of Object.keys(abilities).filter((type) => !registry.stages.has(type) && !isOwnType(type))) {
      log.warn(`authorization.abilities names the stage "${id}", which this app does not have.`);
    }
    if (hasOwn) return;
    for (const [operation, ability] of Object.entries(operations)) {
      if (ability === null || registry.policies.has(ability)) continue;
      log.warn(
        `authorization.operations asks for "${ability}", which no @WorkflowPolicy of this app serves: ${operation} will be denied.`,
      );
    }
    for (const { id, ability: own, provider } of registry.stages.values()) {
      const ability = Object.hasOwn(abilities, id) ? abilities[id]! : own;
      if (ability === null || registry.policies.has(ability)) continue;
      log.warn(
        `${provider.place} asks for "${ability}", which no @WorkflowPolicy of this app serves: it will be denied.`,
      );
    }
  }
}

/** A type of the engine's own, of nodes or of escalations. */
const isOwnType = (type: string): boolean => (builtInType(type) ?? actionType(type)) !== undefined;
