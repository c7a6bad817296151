import type { Complaints } from '../engine/definition/index.js';
import { hasMethod } from './provider-wrapper.js';
import type { FoundClass } from './workflow-explorer.js';

/** A `@WorkflowPolicy` class of this app, checked. */
export interface FoundPolicy {
  readonly provider: FoundClass;
  /** What the decorator says; undefined where it leaves that to the class. */
  readonly allowSystem: boolean | undefined;
}

/** Enters a policy under each ability that it serves, complaining about everything that is wrong with it. */
export function addPolicy(provider: FoundClass, policies: Map<string, FoundPolicy>, complaints: Complaints): void {
  const { place, type } = provider;
  const { abilities, allowSystem } = provider.options as { abilities: readonly unknown[]; allowSystem: unknown };
  if (!hasMethod(provider, 'authorize')) {
    complaints.add(place, 'it has no method authorize(request).', 'Implement StagePolicy.');
  }
  if (abilities.length === 0) {
    complaints.add(place, '@WorkflowPolicy names no ability.', "Write @WorkflowPolicy('expenses.pay').");
  }
  if (allowSystem !== undefined && typeof allowSystem !== 'boolean') {
    complaints.add(place, 'allowSystem is neither true nor false.', 'Use true or false.');
  }
  for (const ability of abilities) {
    if (typeof ability !== 'string' || ability.trim() === '') {
      complaints.add(place, 'an ability of @WorkflowPolicy is no name.', 'Give the name that stages ask by.');
      continue;
    }
    const rival = policies.get(ability);
    // Also provided by a module that was loaded later: the same policy.
    if (rival?.provider.type === type) continue;
    if (rival) {
      const problem = `the ability "${ability}" has a policy already: ${rival.provider.place}.`;
      complaints.add(place, problem, 'An ability has one policy: join the two, or rename one ability.');
    } else policies.set(ability, Object.freeze({ provider, allowSystem: allowSystem as boolean | undefined }));
  }
}
