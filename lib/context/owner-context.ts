/**
 * Wraps whatever runs for an owner: a stage body, a hook, an event handler, a start. The place where a host, or row-level
 * security, sets what belongs to that owner and takes it back afterwards (OWNER-2).
 */
export interface OwnerContext {
  /** Must call `fn` exactly once, and must leave nothing of `owner` behind when it settles. */
  run<T>(owner: { readonly id: string | null }, fn: () => Promise<T>): Promise<T>;
}

/** Adds nothing: the owner is in the CLS context already. */
export const PLAIN_OWNER_CONTEXT: OwnerContext = { run: (_owner, fn) => fn() };
