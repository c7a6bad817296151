import type { ErrorCodeEntry } from './error-code-entry.js';

export const RUN_CODES = {
  RUN_NOT_FOUND: {
    text: 'There is no run {runId} here: the id is wrong, the run was pruned, or it belongs to another owner. Look it up with list(), or ask as an operator.',
    meaning: 'No run of this id exists within the owner who asked.',
    retried: false,
    byHand: false,
  },
  RUN_ENDED: {
    text: 'Run {runId} has ended, so nobody waits for {what} any more. Nothing was stored.',
    meaning: 'A signal was sent to a run that has ended.',
    retried: false,
    byHand: false,
  },
  RUN_NOT_CANCELLABLE: {
    text: 'Run {runId} is {status} already, so there is nothing to cancel. What it did stays done.',
    meaning: 'A run that has ended cannot be cancelled.',
    retried: false,
    byHand: false,
  },
  RUN_NOT_RETRYABLE: {
    text: 'Run {runId} ({status}) cannot be retried: {why}',
    meaning: 'Only a FAILED run whose last stage failed can be retried by hand.',
    retried: false,
    byHand: false,
  },
  RUN_NOT_RERUNNABLE: {
    text: 'Run {runId} ({status}) cannot be rerun[[ from {node}]]: {why}',
    meaning: 'Only a run that has ended can be rerun, and only from a node that it has.',
    retried: false,
    byHand: false,
  },
  RUN_NOT_MIGRATABLE: {
    text: 'Run {runId} ({status}) cannot be moved to version {version}: {why}',
    meaning: 'A run can be moved only to a version served here that has the node the run is at.',
    retried: false,
    byHand: false,
  },
  RUN_FAILED: {
    text: 'Run {runId}[[ of {workflow}]] failed[[ at {node}]] with {failureCode}: {failureMessage}',
    meaning: 'The run whose result was awaited has failed; `failureCode` says with what.',
    retried: false,
    byHand: true,
  },
  RUN_CANCELLED: {
    text: 'Run {runId} was cancelled[[: {reason}]]. It has no result; start a new run, or rerun it from a node.',
    meaning: 'The run whose result was awaited was cancelled.',
    retried: false,
    byHand: false,
  },
  RUN_TIMEOUT: {
    text: 'Run {runId} passed its deadline[[ ({deadline})]] and was ended. Raise `deadline`, or look at what it waited for.',
    meaning: 'A run did not end before its deadline.',
    retried: false,
    byHand: false,
  },
  STUCK_RUN_REAPED: {
    text: 'Run {runId} did not move for {stuckAfter} and had nothing due. Its stages: {stages}. Rerun it from the first open node.',
    meaning: 'A run had nothing due, waited for nothing and did not move for `stuckAfter`.',
    retried: false,
    byHand: false,
  },
  RESULT_TIMEOUT: {
    text: 'Run {runId} had no result within {timeout}. It goes on; ask again, or wait longer.',
    meaning: 'The time that a caller wanted to wait for a result is over; the run is not touched.',
    retried: false,
    byHand: true,
  },
  SHUTTING_DOWN: {
    text: '{what} was given up because this process is shutting down. Nothing is lost: ask again in a living process.',
    meaning: 'A call was pending, or made, while the process shut down.',
    retried: true,
    byHand: true,
  },
  UNDEFINED_ID: {
    text: '{what} is undefined[[ in {where}]]. Pass a value[[ ({hint})]]: an undefined id would select more than was meant.',
    meaning: 'An id, owner or key was undefined where only a value, or null on purpose, is accepted.',
    retried: false,
    byHand: true,
  },
  IDEMPOTENCY_CONFLICT: {
    text: 'The idempotency key "{key}" of {workflow} was used before with another input (run {runId}). Use a new key for another input, or turn off `idempotency.strict` to get the first run.',
    meaning: 'The same key was used with another input while `idempotency.strict` is on.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
