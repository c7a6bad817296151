import { LimitExceededError } from '../../errors/index.js';
import { byteLength } from '../codec/json.js';
import { tooLarge } from '../codec/json-refused.js';
import type { CompiledLimits } from './limits.js';

/**
 * LIMIT-1: one more stage run than allowed ends a run.
 *
 * @param count stage runs of the run, the new ones included
 * @param where names the run in the error
 * @throws LimitExceededError STEP_LIMIT_EXCEEDED
 */
export function checkStageRuns({ maxStageRuns: value }: CompiledLimits, count: number, where: string): void {
  if (count <= value) return;
  throw new LimitExceededError({
    code: 'STEP_LIMIT_EXCEEDED',
    limit: 'limits.maxStageRuns',
    value,
    actual: count,
    where,
  });
}

/**
 * LIMIT-2: a run nested too deep is not started.
 *
 * @param depth of the run to start, the root being 0
 * @throws LimitExceededError NESTING_DEPTH_EXCEEDED
 */
export function checkNestingDepth({ nestingDepth: value }: CompiledLimits, depth: number, where: string): void {
  if (depth <= value) return;
  throw new LimitExceededError({
    code: 'NESTING_DEPTH_EXCEEDED',
    limit: 'limits.nestingDepth',
    value,
    actual: depth,
    where,
  });
}

/**
 * LIMIT-6: for a text that is JSON already; `encodeJson` checks while it encodes.
 *
 * @throws InvalidOutputError naming the limit and its value
 */
export function checkOutputBytes({ maxOutputBytes: maxBytes }: CompiledLimits, json: string, what: string): void {
  checkBytes(json, { kind: 'output', what, maxBytes, limit: 'limits.maxOutputBytes' });
}

/**
 * LIMIT-6: for a text that is JSON already; `encodeJson` checks while it encodes.
 *
 * @throws InvalidInputError naming the limit and its value
 */
export function checkInputBytes({ maxInputBytes: maxBytes }: CompiledLimits, json: string, what: string): void {
  checkBytes(json, { kind: 'input', what, maxBytes, limit: 'limits.maxInputBytes' });
}

function checkBytes(
  json: string,
  options: { kind: 'input' | 'output'; what: string; maxBytes: number; limit: string },
): void {
  const bytes = byteLength(json);
  if (bytes > options.maxBytes) throw tooLarge(json, bytes, options);
}
