import type { ParsableSchema } from './parsable-schema.js';
import type { CompiledRetryPolicy } from '../retry/retry-policy.js';

/** What the compiler must know of a stage class; the class itself it never looks into. */
export interface StageTraits {
  /** The `@Stage` id. */
  readonly id: string;
  readonly config: ParsableSchema | null;
  /** The policy that `@Stage` names, or null. */
  readonly retry: CompiledRetryPolicy | null;
  readonly timeoutMs: number | null;
  readonly queue: string | null;
  /** The class has a `cancel(ctx)`. */
  readonly hasCancelHook: boolean;
}

/** `undefined`: no such stage is provided; `'faulty'`: it is, and was complained about already. */
export type StageLookup = (stageClass: unknown) => StageTraits | 'faulty' | undefined;
