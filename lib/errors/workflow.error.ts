import { findErrorCode, formatMessage } from './catalogue.js';

/** `Symbol.for`, so that two copies of the package in one process (ESM and CommonJS, say) know each other's errors. */
const BRAND = Symbol.for('nestjs-workflow-engine:error');

export interface WorkflowErrorOptions {
  /** What caused it; kept as `cause`. */
  cause?: unknown;
  /** Whether a stage that fails with it is tried again. @default what the catalogue says of the code */
  retryable?: boolean;
}

/**
 * The base of every error this package throws. Its `code` is public and stable: decide by it, never by the message,
 * which comes from a catalogue that a host may translate (`formatMessage(code, params, texts)`).
 *
 * Nor by the class, inside a stage: what a durable step threw reaches a replayed body as it was recorded, with code,
 * params and message, but as a plain `WorkflowError`. `WorkflowError.is(error) && error.code === '…'` holds live, replayed
 * and across copies of the package.
 *
 * @publicApi
 */
export class WorkflowError<Params extends object = object> extends Error {
  /** UPPER_SNAKE; the codes of the package are the keys of `ERROR_CODES`. */
  readonly code: string;
  /** What the message was made of: plain data that is stored beside the code. */
  readonly params: Readonly<Params>;
  /** Whether the engine tries again by itself when a stage lets it escape. */
  readonly retryable: boolean;

  constructor(code: string, params: Params, options: WorkflowErrorOptions = {}) {
    super(formatMessage(code, params), 'cause' in options ? { cause: options.cause } : undefined);
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true });
    Object.defineProperty(this, BRAND, { value: true });
    this.code = code;
    this.params = params;
    this.retryable = options.retryable ?? findErrorCode(code)?.retried ?? false;
  }

  /** Whether a value is an error of this package, also of another copy of it. Never throws. */
  static is(error: unknown): error is WorkflowError {
    try {
      return typeof error === 'object' && error !== null && (error as { [BRAND]?: unknown })[BRAND] === true;
    } catch {
      // A revoked proxy or a trap that throws is nobody's error.
      return false;
    }
  }
}
