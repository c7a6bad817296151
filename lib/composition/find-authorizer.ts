import type { ModulesContainer } from '@nestjs/core';
import { policyRequest, type GetAuthorizer } from '../authorization/index.js';
import type { HandlerResolver } from '../discovery/index.js';
import type { StageAuthorizer } from '../interfaces/index.js';
import { findProvider } from './find-provider.js';

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
  const wanted = { type, method: 'authorize(request)', path: 'authorization.authorizer' };
  const provider = findProvider(wanted, modules);
  return (request) => resolver.resolve<StageAuthorizer>(provider, () => policyRequest(request, ownerId));
}
