import 'reflect-metadata';
import type { StageClass, SchemasOf } from '../interfaces/stage-handler.js';
import type { StageOptions } from '../interfaces/stage-options.js';
import { STAGE_METADATA } from '../workflow.constants.js';
import type { EndsItself } from './ends-itself.js';
import type { SameSchemas } from './same-schemas.js';
import { makeInjectable } from './make-injectable.js';

/**
 * Marks a provider class with `execute(ctx)` as a stage: the unit of execution and checkpoint.
 *
 * Does not compile on a class without `execute`, whose `StageContext` names other schemas, or that may `return
 * ctx.suspend(…)` without a `checkCompletion` to end it. Only writes metadata, on
 * this very class: a subclass decorated anew is another stage, an undecorated one stands for this one.
 *
 * @publicApi
 */
export function Stage<const O extends StageOptions>(options: O) {
  return <T extends StageClass<DeclaredSchemas<O>>>(
    target: T & SameSchemas<DeclaredSchemas<O>, SchemasOf<T>> & EndsItself<T>,
  ): void => {
    Reflect.defineMetadata(STAGE_METADATA, options, target);
    makeInjectable(target, options.scope);
  };
}

// Never undefined: under `exactOptionalPropertyTypes` an optional schema would not count as one.
type DeclaredSchemas<O extends StageOptions> = {
  [K in keyof O & ('input' | 'output' | 'config')]: Exclude<O[K], undefined>;
};
