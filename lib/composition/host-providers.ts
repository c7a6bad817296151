import type { ModulesContainer } from '@nestjs/core';
import type { EventEmitterLike } from '../services/events/emitter-bridge.js';
import type { TransactionOpenerLike } from '../services/transaction/ambient-transactions.js';

/** SchedulerRegistry of @nestjs/schedule, told by its shape. */
export interface SchedulerRegistryLike {
  doesExist(type: 'interval', name: string): boolean;
  addInterval(name: string, interval: unknown): void;
  deleteInterval(name: string): void;
}

/**
 * Finds providers of optional peers in the host's app without importing the packages, which may not be installed: by the
 * name of their token, and by what they can do.
 */
export class HostProviders {
  readonly #modules: ModulesContainer;
  readonly #known = new Map<string, readonly object[]>();
  #complete = false;

  constructor(modules: ModulesContainer) {
    this.#modules = modules;
  }

  /** All providers exist: from now on each look is done once, since starts ask for transactions on the hot path. */
  complete(): void {
    this.#complete = true;
  }

  schedulerRegistry(): SchedulerRegistryLike | undefined {
    return this.#find<SchedulerRegistryLike>('scheduler', (name) => name === 'SchedulerRegistry', [
      'doesExist',
      'addInterval',
      'deleteInterval',
    ])[0];
  }

  eventEmitter(): EventEmitterLike | undefined {
    return this.#find<EventEmitterLike>('emitter', isEmitterName, ['emitAsync', 'onAny'])[0];
  }

  /** One for each connection that @nestjs-cls/transactional was told of. */
  transactionHosts(): readonly TransactionOpenerLike[] {
    return this.#find<TransactionOpenerLike>(
      'transactions',
      (name) => name === 'TransactionHost' || name.startsWith('TransactionHost_'),
      ['isTransactionActive', 'withTransaction'],
    );
  }

  #find<T extends object>(what: string, isNamed: (name: string) => boolean, methods: readonly string[]): readonly T[] {
    const known = this.#known.get(what);
    if (known) return known as readonly T[];
    const found = new Set<T>();
    for (const module of this.#modules.values()) {
      for (const [token, { instance }] of module.providers) {
        if (isNamed(nameOf(token)) && hasMethods(instance, methods)) found.add(instance as T);
      }
    }
    const list = [...found];
    if (this.#complete) this.#known.set(what, list);
    return list;
  }
}

/** The class that eventemitter2 exports as `EventEmitter2` calls itself `EventEmitter`. */
function isEmitterName(name: string): boolean {
  return name === 'EventEmitter2' || name === 'EventEmitter';
}

function nameOf(token: unknown): string {
  if (typeof token === 'function') return token.name;
  return typeof token === 'symbol' ? (token.description ?? '') : String(token);
}

function hasMethods(instance: unknown, methods: readonly string[]): boolean {
  if (typeof instance !== 'object' || instance === null) return false;
  return methods.every((method) => typeof (instance as Record<string, unknown>)[method] === 'function');
}
