import type { ModulesContainer } from '@nestjs/core';
import type { HandlerResolver } from '../discovery/index.js';
import type { OwnerContext } from '../interfaces/index.js';
import { findProvider } from './find-provider.js';

/**
 * The host's OwnerContext, by the class that its provider goes by; a request-scoped one is made for each call.
 *
 * @throws InvalidOptionsError when no module provides it, or it has no `run`
 */
export function findOwnerContext(
  type: Function,
  modules: Pick<ModulesContainer, 'values'>,
  resolver: Pick<HandlerResolver, 'resolve'>,
): OwnerContext {
  const provider = findProvider({ type, method: 'run(owner, fn)', path: 'owners.context' }, modules);
  return {
    run: async (owner, fn) => {
      const context = await resolver.resolve<OwnerContext>(provider, () => ({ ownerId: owner.id }));
      return context.run(owner, fn);
    },
  };
}
