import type { OptionProblem } from '../../errors/index.js';
import { InvalidDurationError } from '../../errors/index.js';
import { type Duration, MAX_DURATION_MS, parseDurationMs } from '../time/index.js';

/** Delays that grow by a factor: base, base × factor, base × factor², …, never above max. */
export interface ExponentialBackoff {
  base: Duration;
  /** @default 2 */
  factor?: number;
  /** @default '1 h', or base where that is longer */
  max?: Duration;
}

/** One delay, a list of delays of which the last one repeats, or a growing one. */
export type BackoffInput = Duration | readonly Duration[] | ExponentialBackoff;

/** Checked delays in milliseconds, as plain frozen data. */
export type Backoff =
  | { readonly kind: 'list'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly maxMs: number };

const DEFAULT_FACTOR = 2;
const DEFAULT_MAX_MS = 3_600_000;
const MAX_DELAYS = 100;
const FIELDS = ['base', 'factor', 'max'];

/** The delays of a policy; what is wrong with them is added to `problems`, and undefined comes back. */
export function compileBackoff(input: BackoffInput, problems: OptionProblem[]): Backoff | undefined {
  const before = problems.length;
  const backoff = isExponential(input) ? compileExponential(input, problems) : compileList(input, problems);
  return problems.length === before ? Object.freeze(backoff) : undefined;
}

/** The delay before the attempt that follows the `attempt`-th failed one (1 = the first), without jitter. */
export function backoffMs(backoff: Backoff, attempt: number): number {
  const at = Math.max(0, attempt - 1);
  if (backoff.kind === 'list') return backoff.delaysMs[Math.min(at, backoff.delaysMs.length - 1)]!;
  // Beyond some thousand attempts the power is Infinity, and 0 × Infinity no number.
  if (backoff.baseMs === 0) return 0;
  return Math.min(backoff.baseMs * backoff.factor ** at, backoff.maxMs);
}

function compileList(input: Duration | readonly Duration[], problems: OptionProblem[]): Backoff {
  const delays = Array.isArray(input) ? (input as readonly Duration[]) : [input as Duration];
  if (delays.length === 0 || delays.length > MAX_DELAYS) {
    problems.push({ path: 'backoff', message: `must have 1 to ${MAX_DELAYS} delays; the last one repeats.` });
  }
  const path = (at: number): string => (Array.isArray(input) ? `backoff[${at}]` : 'backoff');
  const delaysMs = delays.slice(0, MAX_DELAYS).map((delay, at) => duration(delay, path(at), problems));
  return { kind: 'list', delaysMs: Object.freeze(delaysMs) };
}

function compileExponential(input: ExponentialBackoff, problems: OptionProblem[]): Backoff {
  for (const field of Object.keys(input)) {
    if (!FIELDS.includes(field)) {
      problems.push({ path: `backoff.${field}`, message: `is unknown; there are: ${FIELDS.join(', ')}.` });
    }
  }
  const { base, factor = DEFAULT_FACTOR, max } = input;
  if (typeof factor !== 'number' || !(factor >= 1 && factor <= 100)) {
    problems.push({ path: 'backoff.factor', message: 'must be a number from 1 to 100.' });
  }
  const baseMs = duration(base, 'backoff.base', problems);
  const maxMs = max === undefined ? Math.max(DEFAULT_MAX_MS, baseMs) : duration(max, 'backoff.max', problems);
  if (maxMs < baseMs) problems.push({ path: 'backoff.max', message: 'must not be shorter than backoff.base.' });
  return { kind: 'exponential', baseMs, factor, maxMs };
}

function isExponential(input: unknown): input is ExponentialBackoff {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/** A wrong duration counts as the longest, so that it makes no second problem of its own. */
function duration(value: Duration, path: string, problems: OptionProblem[]): number {
  try {
    return parseDurationMs(value, path);
  } catch (error) {
    if (!(error instanceof InvalidDurationError)) throw error;
    problems.push({ path, message: error.message });
    return path === 'backoff.base' ? 0 : MAX_DURATION_MS;
  }
}
