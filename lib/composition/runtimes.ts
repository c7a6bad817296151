import type { ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../errors/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import { firstDifference, sameOptions } from './same-options.js';

interface Registered<R> {
  readonly runtime: R;
  readonly options: ResolvedWorkflowOptions;
}

const KEY = Symbol.for('nestjs-workflow-engine:runtimes');
const world = globalThis as unknown as Record<symbol, WeakMap<ModulesContainer, Registered<unknown>> | undefined>;
/** Kept for the whole process: a second copy of the package in one app must find the engine of the first (fault K16). */
const runtimes = (world[KEY] ??= new WeakMap());

/**
 * The engine of an application, made on the first call: however many modules import `WorkflowModule.forRoot()`, there is
 * one, and every handler is registered with it once (faults H1, H3).
 *
 * @throws InvalidOptionsError when two imports want different options
 */
export function runtimeOf<R>(modules: ModulesContainer, options: ResolvedWorkflowOptions, make: () => R): R {
  const found = runtimes.get(modules) as Registered<R> | undefined;
  if (!found) {
    const runtime = make();
    runtimes.set(modules, { runtime, options });
    return runtime;
  }
  if (!sameOptions(found.options, options)) {
    const path = firstDifference({ ...found.options }, { ...options });
    const message =
      'differs between two imports of WorkflowModule in one app; give the options once, in the root module';
    throw new InvalidOptionsError({ problems: [{ path, message }] });
  }
  return found.runtime;
}
