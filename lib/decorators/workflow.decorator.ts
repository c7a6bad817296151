import 'reflect-metadata';
import type { Schema } from '../interfaces/stage-schemas.js';
import type { InputSchemaOf, WorkflowClass } from '../interfaces/workflow-blueprint.js';
import type { WorkflowOptions } from '../interfaces/workflow-options.js';
import { WORKFLOW_METADATA } from '../workflow.constants.js';
import type { SameSchemas } from './same-schemas.js';
import { makeInjectable } from './make-injectable.js';

/**
 * Marks a provider class with `define(flow)` as a workflow: an id, a version, and the pipeline that `define` builds.
 *
 * Does not compile on a class without `define`, or whose `Flow` names another input. Only writes metadata, on this very
 * class: a subclass decorated anew is another workflow, an undecorated one stands for this one.
 *
 * @publicApi
 */
export function Workflow<I extends Schema>(options: WorkflowOptions<I>) {
  return <W extends WorkflowClass<I>>(target: W & SameSchemas<I, InputSchemaOf<W>>): void => {
    Reflect.defineMetadata(WORKFLOW_METADATA, options, target);
    makeInjectable(target, options.scope);
  };
}
