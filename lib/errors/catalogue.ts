import { ACCESS_CODES } from './codes/access.codes.js';
import { APPROVAL_CODES } from './codes/approval.codes.js';
import { DEFINITION_CODES } from './codes/definition.codes.js';
import type { ErrorCodeEntry } from './codes/error-code-entry.js';
import { ESCALATION_CODES } from './codes/escalation.codes.js';
import { EVENT_CODES } from './codes/event.codes.js';
import { GRAPH_CODES } from './codes/graph.codes.js';
import { LIMIT_CODES } from './codes/limit.codes.js';
import { OPTIONS_CODES } from './codes/options.codes.js';
import { PAYLOAD_CODES } from './codes/payload.codes.js';
import { RUN_CODES } from './codes/run.codes.js';
import { STAGE_CODES } from './codes/stage.codes.js';
import { STEP_CODES } from './codes/step.codes.js';
import { STORE_CODES } from './codes/store.codes.js';
import { renderParam } from './param-text.js';

const CODES = {
  ...OPTIONS_CODES,
  ...DEFINITION_CODES,
  ...GRAPH_CODES,
  ...PAYLOAD_CODES,
  ...RUN_CODES,
  ...STAGE_CODES,
  ...STEP_CODES,
  ...EVENT_CODES,
  ...LIMIT_CODES,
  ...APPROVAL_CODES,
  ...ESCALATION_CODES,
  ...ACCESS_CODES,
  ...STORE_CODES,
} as const;

/** A code of this package. Stages may add codes of their own with `StageFailedError`. */
export type ErrorCode = keyof typeof CODES;

/**
 * Every code of the package with its default text, its meaning, whether the engine retries it and whether a person can.
 *
 * @publicApi
 */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeEntry>> = Object.freeze(CODES);

/** Texts of a host, by code, in the same form as the catalogue's; codes that are missing keep the default text. */
export type MessageOverrides = Readonly<Partial<Record<ErrorCode, string>>> &
  Readonly<Record<string, string | undefined>>;

const OPTIONAL_PART = /\[\[([\s\S]*?)\]\]/g;
const PLACE = /\{(\w+)\}/g;

/** What the catalogue knows about a code, or undefined for a code that a stage made up. */
export function findErrorCode(code: string): ErrorCodeEntry | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : undefined;
}

/**
 * The message of a code with its parameters filled in: what a stored failure (code and parameters) reads as, in the
 * default locale or in the host's own texts. A code that nobody knows reads as its parameter `message`.
 *
 * @example formatMessage('RUN_NOT_CANCELLABLE', { runId: '7f', status: 'COMPLETED' }, { RUN_NOT_CANCELLABLE: '{runId}: zu spät' }) // '7f: zu spät'
 * @publicApi
 */
export function formatMessage(code: string, params: object = {}, overrides: MessageOverrides = {}): string {
  const own = Object.hasOwn(overrides, code) ? overrides[code] : undefined;
  const text = own ?? findErrorCode(code)?.text ?? '{message}';
  const valueOf = (name: string): string => {
    return Object.hasOwn(params, name) ? renderParam((params as Record<string, unknown>)[name]) : '';
  };
  // A replacer function, not a string: a parameter may hold `$&` or braces and must come out as it is.
  return text
    .split(OPTIONAL_PART)
    .map((part, at) => {
      const optional = at % 2 === 1;
      const missing = optional && [...part.matchAll(PLACE)].some(([, name]) => valueOf(name!) === '');
      return missing ? '' : part.replace(PLACE, (_, name: string) => valueOf(name));
    })
    .join('');
}
