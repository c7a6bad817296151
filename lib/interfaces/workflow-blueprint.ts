import type { z } from 'zod';
import type { Flow } from './flow.js';
import type { Schema } from './stage-schemas.js';

/**
 * What a `@Workflow` class implements. `define` is called once, at boot; it describes, it does not run anything.
 *
 * A decorator can't change a class's type, so the input is named once more, here: `define(flow: Flow<typeof input>)`.
 */
export interface WorkflowBlueprint<I extends Schema> {
  define(flow: Flow<I>): Flow<I, any, any>;
}

export type WorkflowClass<I extends Schema = any> = abstract new (...args: any[]) => WorkflowBlueprint<I>;

type FlowOf<W> = W extends abstract new (...args: any[]) => { define(flow: any): infer F } ? F : never;

/** The schema that `define` names for the run's input. */
export type InputSchemaOf<W> = FlowOf<W> extends Flow<infer I, any, any> ? I : never;

/** What `start` takes for the workflow. */
export type WorkflowInput<W> = FlowOf<W> extends Flow<infer I, any, any> ? z.input<I> : never;

/** What a completed run of the workflow yields. */
export type WorkflowOutput<W> = FlowOf<W> extends Flow<any, infer O, any> ? O : never;
