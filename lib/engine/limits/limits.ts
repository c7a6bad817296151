import { InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
import { MAX_JSON_BYTES } from '../codec/json-refused.js';

/** What a run may use. A definition may lower each, never raise it. */
export interface LimitsInput {
  /** Stage runs of one run, skipped and looped ones counted. @default 200 */
  maxStageRuns?: number;
  /** Bytes of a stage output, step result or event payload, as JSON in UTF-8. @default 65536 (64 KiB) */
  maxOutputBytes?: number;
  /** Bytes of a run's input, as JSON in UTF-8. @default 262144 (256 KiB) */
  maxInputBytes?: number;
  /** How deep runs may start runs, the root being 0; 0 allows no children. @default 3 */
  nestingDepth?: number;
  /** Starts of one definition within a minute; null = as many as there are. @default null */
  startsPerMinute?: number | null;
}

/** Checked limits as plain frozen data. */
export type CompiledLimits = Readonly<Required<LimitsInput>>;

export const DEFAULT_LIMITS: CompiledLimits = Object.freeze({
  maxStageRuns: 200,
  maxOutputBytes: 64 * 1024,
  maxInputBytes: 256 * 1024,
  nestingDepth: 3,
  startsPerMinute: null,
});

/** What each limit may be set to; bytes no higher than what can be stored at all. */
const RANGES: Readonly<Record<keyof LimitsInput, readonly [min: number, max: number]>> = Object.freeze({
  maxStageRuns: [1, 1_000_000],
  maxOutputBytes: [1, MAX_JSON_BYTES],
  maxInputBytes: [1, MAX_JSON_BYTES],
  nestingDepth: [0, 100],
  startsPerMinute: [1, 1_000_000],
});

/**
 * The module's limits; what is left out is the default.
 *
 * @param what names them in the error
 * @throws InvalidOptionsError with every problem at once
 */
export function compileLimits(input: LimitsInput = {}, what = 'limits'): CompiledLimits {
  return merge(DEFAULT_LIMITS, input, what, RANGES);
}

/**
 * The limits of a definition, what is left out being the module's.
 *
 * @throws InvalidOptionsError where one is raised above the module's, or wrong
 * @example lowerLimits(DEFAULT_LIMITS, { maxStageRuns: 50 }, 'invoices').maxStageRuns // 50
 */
export function lowerLimits(limits: CompiledLimits, input: LimitsInput = {}, what = 'limits'): CompiledLimits {
  const names = Object.keys(RANGES) as (keyof LimitsInput)[];
  const lower = Object.fromEntries(
    names.map((name) => [name, [RANGES[name][0], limits[name] ?? RANGES[name][1]] as const]),
  );
  return merge(limits, input, what, lower as typeof RANGES);
}

function merge(base: CompiledLimits, input: LimitsInput, what: string, ranges: typeof RANGES): CompiledLimits {
  const problems: OptionProblem[] = [];
  const limits: Record<keyof LimitsInput, number | null> = { ...base };
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    problems.push({ path: what, message: `must be an object with ${Object.keys(RANGES).join(', ')}.` });
  } else {
    for (const [name, value] of Object.entries(input)) {
      if (!Object.hasOwn(RANGES, name)) {
        problems.push({ path: name, message: `is unknown; there are: ${Object.keys(RANGES).join(', ')}.` });
      } else if (value !== undefined) {
        const key = name as keyof LimitsInput;
        // No limit, where there is none to raise.
        if (value === null && base[key] === null) continue;
        const problem = rangeProblem(value, ranges[key], RANGES[key]);
        if (problem === undefined) limits[key] = value as number;
        else problems.push({ path: name, message: problem });
      }
    }
  }
  if (problems.length > 0) throw new InvalidOptionsError({ where: what, problems });
  return Object.freeze(limits as Required<LimitsInput>);
}

function rangeProblem(value: unknown, [min, max]: readonly [number, number], [, hardMax]: readonly [number, number]) {
  if (!Number.isSafeInteger(value) || (value as number) < min) return `must be a whole number from ${min} on.`;
  if ((value as number) <= max) return undefined;
  return max < hardMax
    ? `is ${String(value)}, above the module's ${max}: a definition may only lower it.`
    : `must not be above ${max}.`;
}
