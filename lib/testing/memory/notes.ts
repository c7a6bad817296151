import type { AttemptNotes } from '../../engine/state/notes.js';
import type { FencedAttempt } from './fences.js';
import type { MemorySession } from './session.js';

/** Writes what a body noted down, in the call of its outcome: all of it or nothing (ANN-1, OBS-3). */
export function writeNotes(
  { db, now }: MemorySession,
  { run, stageRun }: FencedAttempt,
  attempt: number,
  { annotations, lines, progress }: AttemptNotes,
): void {
  const noted = { runId: run.id, ownerId: run.ownerId, stageRunId: stageRun.id, attempt, createdAt: now };
  // Noted by an earlier pass through the same body: once is enough.
  for (const annotation of annotations) {
    if (!db.annotations.get(annotation.id)) db.annotations.insert({ ...annotation, ...noted });
  }
  for (const line of lines) if (!db.logLines.get(line.id)) db.logLines.insert({ ...line, ...noted });
  if (progress !== null) db.stageRuns.patch(stageRun, { progress: { ...progress } });
}
