import { Injectable } from '@nestjs/common';
import { ContextIdFactory, ModuleRef, type ContextId } from '@nestjs/core';
import { singletonOf, type FoundProvider } from './provider-wrapper.js';

/**
 * Gives the instance that handles one execution: the singleton where there is one, else one made for that execution, with
 * everything request-scoped in its tree (FAULT H4).
 *
 * Instances of one context share their request-scoped dependencies; Nest forgets a context with its id.
 */
@Injectable()
export class HandlerResolver {
  constructor(private readonly moduleRef: ModuleRef) {}

  /** A context of its own for one execution; whatever injects `REQUEST` in it is given `request`. */
  createContext(request: object): ContextId {
    const contextId = ContextIdFactory.create();
    this.moduleRef.registerRequestByContextId(request, contextId);
    return contextId;
  }

  /** The instance at once where it is a singleton: most are, and the hot path need not wait a tick. */
  resolve<T extends object = object>(provider: FoundProvider, request: object | (() => object)): T | Promise<T> {
    const singleton = singletonOf(provider.wrapper);
    if (singleton) return singleton as T;
    return this.resolveIn<T>(
      provider,
      this.createContext(typeof request === 'function' ? (request as () => object)() : request),
    );
  }

  /** The same within a context that is there already, a guard's or an interceptor's beside the stage. */
  async resolveIn<T extends object = object>({ wrapper, token }: FoundProvider, contextId: ContextId): Promise<T> {
    const singleton = singletonOf(wrapper);
    if (singleton) return singleton as T;
    // Through the ModuleRef of its own module: elsewhere the same token may mean another provider.
    const host = wrapper.host?.getProviderByKey<ModuleRef>(ModuleRef)?.instance;
    return host
      ? await host.resolve<T>(token as never, contextId)
      : await this.moduleRef.resolve<T>(token as never, contextId, { strict: false });
  }
}
