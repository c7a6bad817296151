import { formatDuration, parseDurationMs, type Duration } from '../time/index.js';
import { compileRetryPolicy, type CompiledRetryPolicy, type RetryPolicy } from '../retry/retry-policy.js';
import type { Complaints } from './complaints.js';
import { IDENTIFIER_RULE, isIdentifier } from './identifier.js';

/** The options that stages, nodes and definitions share, checked alike. Undefined = not given, or complained about. */

export function readRetry(value: unknown, place: string, complaints: Complaints): CompiledRetryPolicy | undefined {
  if (value === undefined) return undefined;
  return complaints.attempt(place, () => compileRetryPolicy(value as RetryPolicy, 'retry'), 'retry.');
}

/** A duration above zero, in milliseconds: what a limit of 0 should mean nobody can guess. */
export function readPositiveMs(
  value: unknown,
  name: string,
  place: string,
  complaints: Complaints,
): number | undefined {
  if (value === undefined) return undefined;
  const ms = complaints.attempt(place, () => parseDurationMs(value as Duration, name));
  if (ms !== 0) return ms;
  complaints.add(place, `${name} is ${formatDuration(0)}.`, `Give it more, or leave it out for none.`);
  return undefined;
}

export function readQueue(value: unknown, place: string, complaints: Complaints): string | undefined {
  if (value === undefined || isIdentifier(value)) return value;
  complaints.add(place, `queue ${show(value)} is no name for a queue.`, `Use ${IDENTIFIER_RULE}.`);
  return undefined;
}

/** A value as a complaint shows it: texts quoted, long ones cut. */
export function show(value: unknown): string {
  if (typeof value === 'function') return `class or function ${value.name || '(without a name)'}`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Names what is not among `allowed`. */
export function refuseUnknown(given: object, allowed: readonly string[], place: string, complaints: Complaints): void {
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue;
    complaints.add(place, `there is no option "${name}" here.`, `There are: ${allowed.join(', ')}.`);
  }
}
