import type { ModulesContainer } from '@nestjs/core';
import type { FoundProvider } from '../discovery/index.js';
import { hasMethod } from '../discovery/provider-wrapper.js';
import { InvalidOptionsError } from '../errors/index.js';

export interface WantedProvider {
  /** The class that its provider goes by. */
  readonly type: Function;
  /** What it must be able to do. */
  readonly method: string;
  /** The option that names it, for errors. */
  readonly path: string;
}

/**
 * Finds the provider that an option of the module names by its class.
 *
 * @throws InvalidOptionsError when no module provides it, or it lacks the method
 */
export function findProvider(
  { type, method, path }: WantedProvider,
  modules: Pick<ModulesContainer, 'values'>,
): FoundProvider {
  const refused = (message: string): InvalidOptionsError => new InvalidOptionsError({ problems: [{ path, message }] });
  const provider = providerOf(type, modules);
  if (!provider) throw refused(`${type.name} is no provider of this app: list it in the providers of a module`);
  if (!hasMethod(provider, method.split('(')[0]!)) throw refused(`${type.name} has no method ${method}`);
  return provider;
}

function providerOf(type: Function, modules: Pick<ModulesContainer, 'values'>): FoundProvider | undefined {
  for (const module of modules.values()) {
    const wrapper = module.providers.get(type);
    if (wrapper) return { type, token: type as never, wrapper, place: `${type.name} (${module.name})` };
  }
  return undefined;
}
