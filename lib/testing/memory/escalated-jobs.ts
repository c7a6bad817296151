import { isEscalation } from '../../engine/state/escalation-key.js';
import type { JobRecord, RunRecord } from './records.js';
import type { MemorySession } from './session.js';

export function isOfEscalation({ db }: MemorySession, { stageRunId }: JobRecord): boolean {
  const stageRun = db.stageRuns.get(stageRunId);
  return stageRun !== undefined && isEscalation(stageRun);
}

/** An escalation that waits for its time keeps no run from being stuck. */
export const jobsThatMove = (session: MemorySession, { id }: RunRecord): JobRecord[] =>
  session.db.jobsOf.of(id).filter((job) => !isOfEscalation(session, job));
