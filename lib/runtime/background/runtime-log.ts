/** Where the runtime's lines go. Nest's `Logger` fits as it is. */
export interface RuntimeLog {
  debug(message: string): void;
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
}

/** For tests and for hosts that want none. */
export const SILENT_LOG: RuntimeLog = { debug() {}, log() {}, warn() {}, error() {} };

/** An error as one line of a log; never throws, whatever was thrown. */
export function errorLine(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 1_000) : String(error).slice(0, 1_000);
  } catch {
    return 'an error that cannot be read';
  }
}

/** The stack of an error for `RuntimeLog.error`, if it has a readable one. */
export function errorStack(error: unknown): string | undefined {
  try {
    const stack: unknown = (error as { stack?: unknown } | null | undefined)?.stack;
    return typeof stack === 'string' ? stack.slice(0, 10_000) : undefined;
  } catch {
    return undefined;
  }
}
