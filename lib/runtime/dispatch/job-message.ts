import type { JobMessage, UnsentJob } from '../../engine/ports/index.js';

/** Names the message by what it begins, never by the job, whose row goes on to the next stage. */
export function jobMessage(job: UnsentJob): JobMessage {
  const { kind, stageRunId, attempt } = job;
  return { id: kind === 'cancel' ? `${stageRunId}:cancel:${attempt}` : `${stageRunId}:${attempt}`, ...job };
}
