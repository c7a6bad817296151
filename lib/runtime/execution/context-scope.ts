/** What surrounds one execution: whatever code inside it asks for owner, actor or run finds this (OWNER-1). */
export interface ExecutionScope {
  readonly ownerId: string | null;
  readonly actor: unknown;
  readonly startedBy: unknown;
  readonly run: { readonly id: string; readonly definition: string; readonly version: number };
  readonly stage?: {
    readonly runId: string;
    readonly key: string;
    readonly node: string;
    readonly stage: string;
    readonly attempt: number;
  };
  /** W3C traceparent, or null. */
  readonly trace: string | null;
}

/** Opens a context for `fn` and closes it after, or once `dropped` says that `fn` never ends. Rejects with what `fn`, or opening it, throws. */
export interface ContextScope {
  run<T>(scope: ExecutionScope, fn: (owner: unknown) => T | Promise<T>, dropped: () => Promise<unknown>): Promise<T>;
}
