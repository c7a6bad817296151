import type { WorkflowStore } from '../../../../lib/engine/ports/index.js';

export class TransientError extends Error {
  override readonly name = 'TransientError';
}

export class DataError extends Error {
  override readonly name = 'DataError';
}

type Method = {
  [K in keyof WorkflowStore]: WorkflowStore[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof WorkflowStore];

/** A store whose calls a test can count, hold up and break, each method on its own. */
export class BrokenStore {
  readonly calls: { readonly method: Method; readonly args: readonly any[] }[] = [];
  /** Runs instead of a method; gets the method itself. */
  readonly instead: { [K in Method]?: (real: WorkflowStore[K], ...args: Parameters<WorkflowStore[K]>) => unknown } = {};

  readonly wrap = (store: WorkflowStore): WorkflowStore =>
    new Proxy(store, {
      get: (target, name) => {
        if (name === 'isTransient') return (error: unknown) => error instanceof TransientError;
        if (name === 'isDataError') return (error: unknown) => error instanceof DataError;
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const method = name as Method;
        return async (...args: unknown[]) => {
          this.calls.push({ method, args });
          const real = value.bind(target) as never;
          const instead = this.instead[method] as ((...all: unknown[]) => unknown) | undefined;
          return instead ? instead(real, ...args) : (value as (...all: unknown[]) => unknown).apply(target, args);
        };
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });

  count(method: Method): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  argsOf(method: Method): (readonly any[])[] {
    return this.calls.filter((call) => call.method === method).map(({ args }) => args);
  }
}
