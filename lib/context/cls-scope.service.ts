import { Injectable } from '@nestjs/common';
import { ClsService } from 'nestjs-cls';
import { CONTEXT_KEYS, type ContextKey } from './context-keys.js';
import { outsideOfRequests } from './outside-of-requests.js';

/**
 * The engine's hold on nestjs-cls: the only file that reads or opens a CLS context. Works with and without the host's
 * `ClsModule.forRoot`, since nestjs-cls keeps one store per process.
 *
 * @internal
 */
@Injectable()
export class ClsScope {
  constructor(readonly cls: ClsService) {}

  get active(): boolean {
    return this.cls.isActive();
  }

  read(key: ContextKey): unknown {
    return this.cls.isActive() ? this.cls.get(CONTEXT_KEYS[key]) : undefined;
  }

  has(key: ContextKey): boolean {
    return this.read(key) !== undefined;
  }

  /** Writes into the context that is open; a value set twice is the later one. */
  write(key: ContextKey, value: unknown): void {
    this.cls.set(CONTEXT_KEYS[key], value);
  }

  /**
   * Runs `fn` in a context of its own that begins empty: nothing of the surrounding one is seen inside, of CLS or of any other
   * AsyncLocalStorage, and nothing of this one after it (faults G13, H11).
   */
  runFresh<T>(fn: () => T): T {
    return outsideOfRequests(() => this.cls.run({ ifNested: 'override' }, fn));
  }
}
