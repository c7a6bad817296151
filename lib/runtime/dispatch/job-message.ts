import type { JobMessage, UnsentJob } from '../../engine/ports/index.js';

/** Names the message by what it begins, never by the job, whose row goes on to the next stage. */
export function jobMessage({ resumes, ...job }: UnsentJob): JobMessage {
  const { kind, stageRunId, attempt } = job;
  if (kind === 'cancel') return { id: `${stageRunId}:cancel:${attempt}`, ...job };
  // An attempt that goes on after a wait is delivered once more: a broker may remember ids.
  return { id: `${stageRunId}:${attempt}${resumes > 0 ? `.${resumes}` : ''}`, ...job };
}
