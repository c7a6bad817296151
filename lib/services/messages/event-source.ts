import type { ContextCapture } from '../../context/index.js';
import { encodeJson } from '../../engine/codec/index.js';
import { WorkflowError } from '../../errors/index.js';

/** An actor is an identity, not a document. */
const MAX_ACTOR_BYTES = 4_096;

/**
 * Where an event comes from, as it is kept: the run whose code tells of it, and on whose behalf. Null where there is neither. An actor
 * that cannot be kept is left out: a trigger that needs one then starts nothing.
 */
export function sourceOf(capture: Pick<ContextCapture, 'cause'>): string | null {
  const { runId, actor } = capture.cause();
  const run = runId === null ? {} : { run: runId };
  if (actor === null) return runId === null ? null : JSON.stringify(run);
  try {
    return encodeJson({ ...run, actor }, { kind: 'input', what: 'the actor', maxBytes: MAX_ACTOR_BYTES });
  } catch (error) {
    if (!WorkflowError.is(error)) throw error;
    return runId === null ? null : JSON.stringify(run);
  }
}
