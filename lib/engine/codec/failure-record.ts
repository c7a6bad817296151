import { WorkflowError, findErrorCode } from '../../errors/index.js';
import { cleanText } from './clean-text.js';
import { FAILURE_LIMITS, type FailureLimits } from './failure-limits.js';
import { failureParams } from './failure-params.js';
import { readSafely } from './read-safely.js';
import { retryAfterMs } from './retry-after.js';
import { stackFrames } from './stack-frames.js';
import { thrownMessage, thrownName } from './thrown-text.js';

/** A failure as it is stored and as a replayed body meets it: plain, bounded, storable as JSON and its texts as text. */
export interface FailureRecord {
  /** The code of an error of the package, a stage's own (StageFailedError), else EXCEPTION. */
  readonly code: string;
  /** The name of the error's class; 'NonError' where something else was thrown. */
  readonly name: string;
  /** In the default locale; `formatMessage(code, params, texts)` reads it in another. */
  readonly message: string;
  /** Frames only, a line each. */
  readonly stack?: string;
  readonly cause?: FailureRecord;
  /** The parts of an AggregateError. */
  readonly errors?: readonly FailureRecord[];
  /** The parameters of an error of the package. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Whether another attempt may help (RETRY-3). */
  readonly retryable: boolean;
  /** The pause that the error asked for, at least. */
  readonly retryAfterMs?: number;
}

export interface DescribeFailureOptions extends Partial<FailureLimits> {
  /** The present instant in milliseconds, for a `retryAfter` that is a Date; without it such a Date is ignored. */
  now?: number;
}

/**
 * What was thrown, as a record. Takes anything (errors with cycles, throwing getters or 50 MB of message, proxies,
 * strings, undefined) and never throws itself, so that a failure can always be recorded.
 *
 * @example describeFailure('no').code // 'EXCEPTION'
 */
export function describeFailure(error: unknown, options: DescribeFailureOptions = {}): FailureRecord {
  const { now, ...limits } = options;
  return new Description({ ...FAILURE_LIMITS, ...limits }, now).describe(error, 0);
}

const MAX_NAME_LENGTH = 100;
const FRAMES_BELOW = 10;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** One description: counts what it kept and knows what it has seen, so that cycles and fans end. */
class Description {
  private readonly seen = new Set<unknown>();
  private count = 0;

  constructor(
    private readonly limits: FailureLimits,
    private readonly now: number | undefined,
  ) {}

  describe(error: unknown, depth: number): FailureRecord {
    if (typeof error === 'object') this.seen.add(error);
    this.count += 1;
    const own = WorkflowError.is(error);
    const code = codeOf(error, own);
    const message = thrownMessage(error);
    const record: Mutable<FailureRecord> = {
      code,
      name: cleanText(thrownName(error), MAX_NAME_LENGTH),
      message: cleanText(message, this.limits.maxMessageLength),
      retryable: own ? isRetryable(error, code) : true,
    };
    const frames = depth === 0 ? this.limits.maxFrames : Math.min(FRAMES_BELOW, this.limits.maxFrames);
    const optional = {
      stack: stackFrames(readSafely(error, 'stack'), message, frames),
      params: own ? failureParams(readSafely(error, 'params')) : undefined,
      retryAfterMs: retryAfterMs(error, this.now),
      cause: this.causeOf(error, depth),
      errors: this.partsOf(error, depth),
    };
    return Object.assign(
      record,
      Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    );
  }

  private causeOf(error: unknown, depth: number): FailureRecord | undefined {
    const cause = readSafely(error, 'cause');
    return cause === undefined || cause === null ? undefined : this.below(cause, depth);
  }

  private partsOf(error: unknown, depth: number): FailureRecord[] | undefined {
    const errors = readSafely(error, 'errors');
    // By length and index, each read on its own: it may be a proxy as well.
    const length = isArray(errors) ? Number(readSafely(errors, 'length')) : 0;
    const parts: FailureRecord[] = [];
    for (let at = 0; at < Math.min(length, this.limits.maxFailures); at++) {
      const part = this.below(readSafely(errors, at), depth);
      if (part) parts.push(part);
    }
    return parts.length === 0 ? undefined : parts;
  }

  private below(error: unknown, depth: number): FailureRecord | undefined {
    const { maxCauseDepth, maxFailures } = this.limits;
    if (depth >= maxCauseDepth || this.count >= maxFailures || this.seen.has(error)) return undefined;
    return this.describe(error, depth + 1);
  }
}

function codeOf(error: unknown, own: boolean): string {
  const code = own ? readSafely(error, 'code') : undefined;
  return typeof code === 'string' && code !== '' ? cleanText(code, MAX_NAME_LENGTH) : 'EXCEPTION';
}

function isRetryable(error: unknown, code: string): boolean {
  const said = readSafely(error, 'retryable');
  return typeof said === 'boolean' ? said : (findErrorCode(code)?.retried ?? false);
}

function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
