import { InvalidInputError, InvalidOutputError } from '../../errors/index.js';
import { cleanText } from './clean-text.js';
import { type JsonCheck, JsonRefusal } from './json-check.js';
import { jsonPath } from './json-path.js';
import { readSafely } from './read-safely.js';

export interface EncodeJsonOptions {
  /** What the value is, which decides whether it is refused as INVALID_INPUT or INVALID_OUTPUT. @default 'output' */
  kind?: 'input' | 'output';
  /** Whose value it is, for the message. */
  what?: string;
  /** What the value is called in paths. @default '$' */
  path?: string;
  /** The most bytes of UTF-8 that its text may have. @default 256 MiB, well below what a PostgreSQL field holds */
  maxBytes?: number;
  /** The option that holds `maxBytes`, for the message. */
  limit?: string;
}

export type EncodeJsonError = InvalidOutputError | InvalidInputError;

/** The most that is ever encoded: beyond it neither a V8 string nor a PostgreSQL field is safe. */
export const MAX_JSON_BYTES = 256 * 1024 * 1024;
const PREVIEW_LENGTH = 200;

/** The error for whatever ended an encoding: a refusal, or what a getter or proxy inside the value threw. */
export function refusalOf(error: unknown, check: JsonCheck, options: EncodeJsonOptions): EncodeJsonError {
  const { path = '$' } = options;
  if (error instanceof JsonRefusal && error.oversized !== undefined)
    return tooLarge(error.oversized, undefined, options);
  const place = jsonPath(path, check.keys);
  if (error instanceof JsonRefusal) return refuse({ path: place, reason: error.reason }, options);
  const thrown = readSafely(error, 'message');
  const message = cleanText(typeof thrown === 'string' ? thrown : typeof error, PREVIEW_LENGTH);
  return refuse({ path: place, reason: `can't be read: ${message}` }, options, error);
}

/** The error for a text that has more bytes than its limit; `bytes` when they were counted. */
export function tooLarge(text: string, bytes: number | undefined, options: EncodeJsonOptions): EncodeJsonError {
  const { path = '$', limit = 'the most that is ever stored', maxBytes = MAX_JSON_BYTES } = options;
  const size = bytes === undefined ? `more than ${maxBytes}` : `${bytes}`;
  const reason = `has ${size} bytes as JSON, over ${limit} = ${maxBytes}; keep the large part elsewhere and return a reference to it`;
  return refuse({ path, reason, preview: cleanText(text, PREVIEW_LENGTH) }, options);
}

interface Refused {
  path: string;
  reason: string;
  preview?: string;
}

function refuse(refused: Refused, { kind, what }: EncodeJsonOptions, cause?: unknown): EncodeJsonError {
  const options = cause === undefined ? undefined : { cause };
  if (kind !== 'input') return new InvalidOutputError({ what, ...refused }, options);
  const issues = [{ path: refused.path, message: refused.reason }];
  return new InvalidInputError({ what: what ?? 'the run', issues }, options);
}
