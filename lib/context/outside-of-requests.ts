import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** Of when the package was loaded, before any request. */
const atFirst = AsyncLocalStorage.snapshot();

/**
 * Calls `fn` outside of everything that surrounds the caller: no AsyncLocalStorage, of whomever, says in it what it says here
 * (faults G13, H11).
 */
export function outsideOfRequests<T>(fn: () => T): T {
  // A resource for each: on a shared one `enterWith` would leave its value for all that come later.
  return atFirst(() => new AsyncResource('WorkflowExecution').runInAsyncScope(fn));
}
