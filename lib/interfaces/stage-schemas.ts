import type { z } from 'zod';

/** Any zod 4 schema, of `zod` and of `zod/mini` alike. */
export type Schema = z.core.$ZodType;

/** What a stage declares. A stage without `input` takes anything, one without `output` yields nothing, one without `config` has none. */
export interface StageSchemas {
  readonly input?: Schema;
  readonly output?: Schema;
  readonly config?: Schema;
}

/** What may be handed to the stage: the input side of its `input`. */
export type AcceptedInput<S> = S extends { readonly input: infer I extends Schema } ? z.input<I> : unknown;

/** What the body sees as `ctx.input`. */
export type ParsedInput<S> = S extends { readonly input: infer I extends Schema } ? z.output<I> : unknown;

/** What is stored, and so what followers see. */
export type StoredOutput<S> = S extends { readonly output: infer O extends Schema } ? z.output<O> : void;

/** What the body returns: the output schema parses it before it is stored. */
export type ReturnedOutput<S> = S extends { readonly output: infer O extends Schema } ? z.input<O> : unknown;

/** What a definition writes as `config`. */
export type GivenConfig<S> = S extends { readonly config: infer C extends Schema } ? z.input<C> : undefined;

/** What the body sees as `ctx.config`, defaults applied. */
export type ParsedConfig<S> = S extends { readonly config: infer C extends Schema } ? z.output<C> : undefined;
