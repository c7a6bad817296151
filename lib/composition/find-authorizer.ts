import type { ModulesContainer } from '@nestjs/core';
import { policyRequest, type GetAuthorizer } from '../authorization/index.js';
import type { FoundProvider, HandlerResolver } from '../discovery/index.js';
import { hasMethod } from '../discovery/provider-wrapper.js';
import { InvalidOptionsError } from '../errors/index.js';
import type { StageAuthorizer } from '../interfaces/index.js';

/**
 * The host's own authorizer, by the class that its provider goes by; request-scoped ones are made for each call.
 *
 * @throws InvalidOptionsError when no module provides it, or it has no `authorize`
 */
export function findAuthorizer(
  type: Function,
  modules: Pick<ModulesContainer, 'values'>,
  resolver: Pick<HandlerResolver, 'resolve'>,
  ownerId: () => string | null,
): GetAuthorizer {
  const provider = providerOf(type, modules);
  if (!provider) throw refused(`${type.name} is no provider of this app: list it in the providers of a module`);
  if (!hasMethod(provider, 'authorize')) throw refused(`${type.name} has no method authorize(request)`);
  return (request) => resolver.resolve<StageAuthorizer>(provider, () => policyRequest(request, ownerId));
}

function providerOf(type: Function, modules: Pick<ModulesContainer, 'values'>): FoundProvider | undefined {
  for (const module of modules.values()) {
    const wrapper = module.providers.get(type);
    if (wrapper) return { type, token: type as never, wrapper, place: `${type.name} (${module.name})` };
  }
  return undefined;
}

function refused(message: string): InvalidOptionsError {
  return new InvalidOptionsError({ problems: [{ path: 'authorization.authorizer', message }] });
}
