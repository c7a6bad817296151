import type { CreatedRun, NewRun, StartKey } from '../../engine/ports/start-store.js';
import type { RunRecord } from './records.js';
import type { MemorySession } from './session.js';
import { applyTransition } from './transitions.js';

export function createRuns(session: MemorySession, runs: readonly NewRun[]): CreatedRun[] {
  return runs.map((run) => {
    const holder = run.idempotency && takeKey(session, run.id, run.idempotency);
    if (holder) return { runId: holder.runId, created: false, inputDigest: holder.inputDigest };
    writeRun(session, run);
    return { runId: run.id, created: true, inputDigest: run.idempotency?.inputDigest ?? null };
  });
}

/** Takes a start key for a run, unless a living one is held by another: then that one is returned (IDEM-1, IDEM-2). */
function takeKey({ db, now }: MemorySession, runId: string, key: StartKey): CreatedRun | undefined {
  const digest = key.digest.toString('hex');
  const fresh = { runId, inputDigest: Buffer.from(key.inputDigest), expiresAt: now + key.ttlMs };
  const known = db.startKeys.get(digest);
  if (known === undefined) {
    db.startKeys.insert({ digest, ...fresh });
    return undefined;
  }
  if (known.expiresAt > now) return { runId: known.runId, created: false, inputDigest: Buffer.from(known.inputDigest) };
  db.startKeys.patch(known, fresh);
  return undefined;
}

function writeRun(session: MemorySession, run: NewRun): void {
  const { db, now } = session;
  // Also with an instant that has passed: its begin is told when it is promoted.
  const delayed = run.startAt !== null || run.delayMs > 0;
  const row: RunRecord = {
    id: run.id,
    definitionId: run.definitionId,
    definitionVersion: run.definitionVersion,
    definitionKey: run.definitionKey,
    ownerId: run.ownerId,
    actor: run.actor,
    trace: run.trace,
    priority: run.priority,
    queue: run.queue,
    input: run.input,
    createdAt: now,
    enqueuedAt: run.startAt === null ? now + run.delayMs : Date.parse(run.startAt),
    deadlineAt: run.deadlineMs === null ? null : now + run.deadlineMs,
    generation: 1,
    status: delayed ? 'PENDING' : 'RUNNING',
    output: null,
    awaited: run.awaited,
    failureCode: null,
    failureMessage: null,
    failureParams: null,
    failedNode: null,
    cancelReason: null,
    startedAt: delayed ? null : now,
    finishedAt: null,
  };
  db.runs.insert(row);
  applyTransition(session, row, run.transition, { job: null, delayed });
}
