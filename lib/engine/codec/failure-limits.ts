/** How much of a failure is kept. What is beyond is cut, with an ellipsis. */
export interface FailureLimits {
  /** UTF-16 units of a message. */
  readonly maxMessageLength: number;
  /** Frames of the stack, each at most 300 units; causes and the parts of an AggregateError keep 10. */
  readonly maxFrames: number;
  /** How deep the causes are followed. */
  readonly maxCauseDepth: number;
  /** Failures in one record: itself, its causes, the parts of an AggregateError, and theirs. */
  readonly maxFailures: number;
}

export const FAILURE_LIMITS: FailureLimits = Object.freeze({
  maxMessageLength: 1_000,
  maxFrames: 50,
  maxCauseDepth: 5,
  maxFailures: 20,
});
