import { AsyncResource } from 'node:async_hooks';

/** As old as this file: of no request, no run and no step. */
const nobodys = new AsyncResource('WorkflowEngine');

/**
 * Calls `work` outside of the asynchronous context of whoever asks for it. Calls and timers take along what their caller keeps in an
 * `AsyncLocalStorage`: a run that is claimed because a request, or another run's step, had the worker look would else run within
 * that request's transaction or that step (OWNER-1).
 */
export const detached = <T>(work: () => T): T => nobodys.runInAsyncScope(work);
