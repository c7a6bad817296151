import type { ErrorCodeEntry } from './error-code-entry.js';

/** Durable steps, waits and children. */
export const STEP_CODES = {
  STEP_MISMATCH: {
    text: 'Step "{step}"[[ of {stage}]] was recorded as {recorded}, but the body now uses that name for {asked}. Give the new step another name; recorded steps keep theirs.',
    meaning: 'On replay a step name was used with another kind of step.',
    retried: false,
    byHand: true,
  },
  STEP_NESTED: {
    text: 'Step "{step}" was called inside the body of step "{outer}". A step body is plain work: call ctx.step beside it, one after the other, or in parallel through ctx.step.all.',
    meaning: "A durable step was called from another step's body, where its outcome could not be replayed.",
    retried: false,
    byHand: true,
  },
  INVALID_STEP: {
    text: '{what} is not valid:{problems}\nCorrect the call in the body of the stage, then retry the run.',
    meaning: 'A durable call has a bad name or bad options.',
    retried: false,
    byHand: true,
  },
  WAIT_TIMEOUT: {
    text: '{what} waited longer than {timeout}. Raise the timeout (`maxWait`), or handle the case that nothing comes.',
    meaning: 'A wait passed its timeout or `maxWait`.',
    retried: false,
    byHand: true,
  },
  CHILD_RUN_FAILED: {
    text: 'Child run {runId} ended {status}[[ with {failureCode}]][[: {failureMessage}]]. Its history says more; where the parent can go on without it, catch this error.',
    meaning: 'A child run that was waited for failed or was cancelled; `failureCode` says with what.',
    retried: false,
    byHand: true,
  },
  CHILD_NOT_STARTED: {
    text: 'The child workflow "{workflow}" could not be started: {message}',
    meaning: 'A child run could not be started for now (its start rate, for example).',
    retried: true,
    byHand: true,
  },
  NO_COMPLETION_CHECK: {
    text: 'Stage {stage} returned ctx.suspend(…), but its class has no checkCompletion(state, ctx), so nothing would ever end it. Add the method, or return an output.',
    meaning: 'A stage suspended itself although its class has no `checkCompletion`.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
