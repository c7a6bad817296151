/**
 * Wraps whatever runs for an owner: stage bodies with their policies, cancel hooks, event handlers, starts, messages, and what
 * is done to runs. The place where a host sets what belongs to that owner, and takes it back afterwards (OWNER-2).
 */
export interface OwnerContext {
  /**
   * Must call `fn` exactly once and resolve after it has, leaving nothing of `owner` behind. What it throws fails what was to
   * be done: a start rejects with it, an attempt is retried as if the body had thrown it. What `fn` comes to is the engine's:
   * it gets it whatever is returned here. The `fn` of a stage that falls asleep resolves at once.
   *
   * @param owner whose id is null where there is no owner
   */
  run<T>(owner: { readonly id: string | null }, fn: () => Promise<T>): Promise<T>;
}
