import type { Complaints } from './complaints.js';
import { readPositiveMs, readQueue, readRetry, refuseUnknown, show } from './common-options.js';
import { foldIdentifier, IDENTIFIER_RULE, isIdentifier } from './identifier.js';
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
  /** What it may end with; null = `done`. */
  readonly outcomes: readonly string[] | null;
}

const OPTIONS = [
  'id',
  'input',
  'output',
  'config',
  'retry',
  'timeout',
  'ability',
  'queue',
  'sideEffect',
  'outcomes',
  'scope',
];
/** How many outcomes a stage may have: an editor shows them side by side. */
const MOST_OUTCOMES = 50;

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
    outcomes: readOutcomes(options.outcomes, place, complaints),
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

function readOutcomes(outcomes: unknown, place: string, complaints: Complaints): readonly string[] | null {
  if (outcomes === undefined) return null;
  const names: readonly unknown[] = Array.isArray(outcomes) ? outcomes : [];
  const told = new Set(names.map((name) => foldIdentifier(String(name))));
  const fits = names.every(isIdentifier) && told.size === names.length && !told.has('skipped');
  if (fits && names.length > 0 && names.length <= MOST_OUTCOMES) return Object.freeze([...names]);
  const rule = `one to ${MOST_OUTCOMES} names that differ and are not "skipped", each ${IDENTIFIER_RULE}`;
  complaints.add(place, `outcomes is ${show(outcomes)}.`, `Give ${rule}.`);
  return null;
}
