import type { ErrorCodeEntry } from './error-code-entry.js';

export const STAGE_CODES = {
  EXCEPTION: {
    text: '{message}',
    meaning: 'A stage body, guard or interceptor threw something that is no error of this package.',
    retried: true,
    byHand: true,
  },
  NON_RETRYABLE: {
    text: '{message}',
    meaning: 'A stage threw NonRetryableError: trying again would not help.',
    retried: false,
    byHand: true,
  },
  STAGE_FAILED: {
    text: '{message}',
    meaning: 'A stage threw StageFailedError without a code of its own.',
    retried: false,
    byHand: true,
  },
  STAGE_ABORTED: {
    text: 'The body of {stage} was told to stop ({reason}).[[ {detail}]] Let this error pass; what follows is decided by the engine.',
    meaning:
      'The reason of an aborted `ctx.abortSignal`: cancelled, lease-lost, shutdown, timeout, suspended or ended. Retried unless the run was cancelled.',
    retried: true,
    byHand: true,
  },
  STAGE_TIMEOUT: {
    text: 'An attempt of {stage} ran longer than its timeout of {timeout}. Raise `timeout` in @Stage, or split the work into steps.',
    meaning: 'One attempt of a stage ran longer than its `timeout`.',
    retried: true,
    byHand: true,
  },
  CONDITION_FAILED: {
    text: 'The `when` of {node} gave no answer: {message}. A condition has to answer true or false for every input.',
    meaning: "A node's condition threw, or answered neither true nor false.",
    retried: false,
    byHand: true,
  },
  EXPRESSION_FAILED: {
    text: 'An expression of node {node} gave nothing on the values of this run: {message}.',
    meaning:
      'An expression or a mapping of a graph could not be evaluated: a missing field, another type, too much of it.',
    retried: false,
    byHand: true,
  },
  LEASE_EXPIRED: {
    text: 'LEASE_HEARTBEAT_LOST: worker {worker} stopped extending its lease on {stage}[[ (loss {losses} of {maxLosses})]]. Its result, if any, was not stored. Look for crashes, long blocking code or lost connections.',
    meaning: 'A worker stopped extending its lease; repeated up to `lease.maxLosses` times by itself.',
    retried: true,
    byHand: true,
  },
  LEASE_ABSOLUTE_CAP: {
    text: 'LEASE_ABSOLUTE_CAP: {stage} ran longer than {cap} on worker {worker}. Raise the `timeout` of the stage or `lease.absoluteTimeout`, or split the work into steps.',
    meaning: 'A job ran past `lease.absoluteTimeout`, which no heartbeat extends.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
