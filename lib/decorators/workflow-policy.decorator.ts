import 'reflect-metadata';
import type { OperationPolicy } from '../interfaces/operation-authorization.js';
import type { StagePolicy, WorkflowPolicyOptions } from '../interfaces/stage-authorization.js';
import { WORKFLOW_POLICY_METADATA } from '../workflow.constants.js';
import { makeInjectable } from './make-injectable.js';

/**
 * Marks a provider class with `authorize(request)` as the policy of an ability, or of several: asked before each call of a
 * stage that names it, in every module, and before each operation and route that does.
 *
 * An ability has one policy; a second one stops the app at boot. The scope that Nest's own `@Injectable` gives it stays.
 *
 * @example
 * ```ts
 * @WorkflowPolicy('expenses.pay')
 * export class PayPolicy implements StagePolicy {
 *   authorize({ actor }: StageAuthorization) { return (actor as User).may('pay'); }
 * }
 * ```
 *
 * @publicApi
 */
export function WorkflowPolicy(ability: string | readonly string[], { allowSystem }: WorkflowPolicyOptions = {}) {
  // oxlint-disable-next-line typescript/no-explicit-any -- `unknown` would refuse every class with a parameter
  return (target: abstract new (...args: any[]) => StagePolicy | OperationPolicy): void => {
    const abilities: readonly unknown[] = Array.isArray(ability) ? ability : [ability];
    Reflect.defineMetadata(WORKFLOW_POLICY_METADATA, { abilities, allowSystem }, target);
    makeInjectable(target, undefined);
  };
}
