import { Injectable } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { DefinitionRegistry } from './definition-registry.js';

/**
 * Registers what lazily loaded modules bring, as part of loading them: a faulty definition rejects the load (DEF-3).
 *
 * Nest calls no hook of ours after a lazy load, so the app's loader is given a `load` that goes on to the registry. Taken
 * back at shutdown.
 */
@Injectable()
export class LazyModules {
  private restore: (() => void) | undefined;

  constructor(
    private readonly loader: LazyModuleLoader,
    private readonly registry: DefinitionRegistry,
  ) {}

  /** Begins to watch. Again: nothing. */
  watch(): void {
    if (this.restore) return;
    const { loader, registry } = this;
    const own = Object.getOwnPropertyDescriptor(loader, 'load');
    const load = loader.load.bind(loader);
    loader.load = async (...given) => {
      const module = await load(...given);
      await registry.refresh();
      return module;
    };
    const ours = loader.load;
    this.restore = () => {
      // Somebody may have wrapped it after us; then it stays, and only refreshes a registry that is over.
      if (loader.load !== ours) return;
      if (own) Object.defineProperty(loader, 'load', own);
      else Reflect.deleteProperty(loader, 'load');
    };
  }

  unwatch(): void {
    this.restore?.();
    this.restore = undefined;
  }
}
