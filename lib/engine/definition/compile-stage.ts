import type { Complaints } from './complaints.js';
import { readPositiveMs, readQueue, readRetry, refuseUnknown, show } from './common-options.js';
import { IDENTIFIER_RULE, isIdentifier } from './identifier.js';
import { isParsableSchema, type ParsableSchema } from './parsable-schema.js';
import type { StageTraits } from './stage-traits.js';

/** A stage before it is checked: what `@Stage` was given, and what its class has. */
export interface StageSource {
  /** Class and module, for complaints: `ExtractText (AppModule)`. */
  readonly place: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly hasExecute: boolean;
  readonly hasCancelHook: boolean;
  readonly hasCompletionCheck: boolean;
}

/** What a stage is, everywhere it stands. */
export interface CompiledStageType extends StageTraits {
  readonly inputSchema: ParsableSchema | null;
  readonly outputSchema: ParsableSchema | null;
  readonly ability: string | null;
  readonly sideEffect: boolean;
  /** The class has a `checkCompletion(state, ctx)`. */
  readonly hasCompletionCheck: boolean;
}

const OPTIONS = ['id', 'input', 'output', 'config', 'retry', 'timeout', 'ability', 'queue', 'sideEffect', 'scope'];

/** Checks what `@Stage` says. Complains about everything that is wrong; undefined when anything is. */
export function compileStage(
  { place, options, hasExecute, hasCancelHook, hasCompletionCheck }: StageSource,
  complaints: Complaints,
): CompiledStageType | undefined {
  const before = complaints.list.length;
  if (!hasExecute) complaints.add(place, 'it has no method execute(ctx).', 'Implement StageHandler.');
  if (!isIdentifier(options.id))
    complaints.add(place, `@Stage has the id ${show(options.id)}.`, `Use ${IDENTIFIER_RULE}.`);
  refuseUnknown(options, OPTIONS, place, complaints);
  const type: CompiledStageType = {
    id: String(options.id),
    inputSchema: readSchema(options.input, 'input', place, complaints),
    outputSchema: readSchema(options.output, 'output', place, complaints),
    config: readSchema(options.config, 'config', place, complaints),
    retry: readRetry(options.retry, place, complaints) ?? null,
    timeoutMs: readPositiveMs(options.timeout, 'timeout', place, complaints) ?? null,
    queue: readQueue(options.queue, place, complaints) ?? null,
    ability: readAbility(options.ability, place, complaints),
    sideEffect: readSideEffect(options.sideEffect, place, complaints),
    hasCancelHook,
    hasCompletionCheck,
  };
  return complaints.list.length === before ? Object.freeze(type) : undefined;
}

/** The schema, null where there is none. */
export function readSchema(value: unknown, name: string, place: string, complaints: Complaints): ParsableSchema | null {
  if (value === undefined) return null;
  if (isParsableSchema(value)) return value;
  complaints.add(place, `${name} is ${show(value)}, not a schema.`, 'Give a zod schema: z.object({ … }).');
  return null;
}

function readAbility(ability: unknown, place: string, complaints: Complaints): string | null {
  if (ability === undefined) return null;
  if (typeof ability === 'string' && ability.trim() !== '') return ability;
  complaints.add(place, `ability is ${show(ability)}.`, 'Give the name that the policy goes by.');
  return null;
}

function readSideEffect(sideEffect: unknown, place: string, complaints: Complaints): boolean {
  if (sideEffect === undefined || typeof sideEffect === 'boolean') return sideEffect ?? true;
  complaints.add(place, `sideEffect is ${show(sideEffect)}.`, 'Use true or false.');
  return true;
}
