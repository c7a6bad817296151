import type { CountedStarts, CreatedRun, NewRun, StartKey, StartPlace } from '../../engine/ports/start-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import type { RunRecord } from './records.js';
import { tell } from './outbox-writes.js';
import type { MemorySession } from './session.js';
import { applyTransition } from './transitions.js';

const MINUTE_MS = 60_000;
/** A place is nobody's yet. */
const NO_RUN = '00000000-0000-0000-0000-000000000000';

export function createRuns(session: MemorySession, runs: readonly NewRun[]): CreatedRun[] {
  return runs.map((run) => {
    const holder = run.idempotency && takeKey(session, run.id, run.idempotency);
    if (holder) return holder;
    const dueInMs = writeRun(session, run);
    return { runId: run.id, created: true, dueInMs, inputDigest: run.idempotency?.inputDigest ?? null };
  });
}

/** Takes a start key for a run, unless a living one is held by another: then that one is returned (IDEM-1, IDEM-2). */
function takeKey({ db, now }: MemorySession, runId: string, key: StartKey): CreatedRun | undefined {
  const digest = key.digest.toString('hex');
  const fresh = {
    runId,
    inputDigest: Buffer.from(key.inputDigest),
    expiresAt: key.ttlMs === null ? null : now + key.ttlMs,
  };
  const known = db.startKeys.get(digest);
  if (known === undefined) {
    db.startKeys.insert({ digest, result: null, ...fresh });
    return undefined;
  }
  const { expiresAt, inputDigest } = known;
  if (expiresAt === null || expiresAt > now)
    return { runId: known.runId, created: false, dueInMs: 0, inputDigest: inputDigest && Buffer.from(inputDigest) };
  db.startKeys.patch(known, fresh);
  return undefined;
}

export function heldKeys({ db, now }: MemorySession, digests: readonly Buffer[]): boolean[] {
  return digests.map((digest) => {
    const key = db.startKeys.get(digest.toString('hex'));
    return key !== undefined && (key.expiresAt === null || key.expiresAt > now);
  });
}

/** Counts starts of a definition in the present minute, or says what a place got when it was counted first (LIMIT-3). */
export function countStarts(
  { db, now }: MemorySession,
  definitionId: string,
  starts: number,
  place?: StartPlace,
): CountedStarts {
  const minute = now - (now % MINUTE_MS);
  const nextInMs = minute + MINUTE_MS - now;
  const digest = place?.digest.toString('hex');
  const taken = digest === undefined ? undefined : db.startKeys.get(digest);
  if (taken && taken.expiresAt! > now) return { counted: Number(taken.result), nextInMs };
  const known = db.startRates.get(definitionId);
  const counted = starts + (known?.minute === minute ? known.starts : 0);
  if (known) db.startRates.patch(known, { minute, starts: counted });
  else db.startRates.insert({ definitionId, minute, starts: counted });
  if (taken) db.startKeys.remove(taken);
  if (digest !== undefined) {
    const expiresAt = now + place!.ttlMs;
    db.startKeys.insert({ digest, runId: NO_RUN, inputDigest: null, expiresAt, result: String(counted) });
  }
  return { counted, nextInMs };
}

const hasEnded = ({ db }: MemorySession, runId: string): boolean => {
  const run = db.runs.get(runId);
  return run !== undefined && isTerminalRun(run.status);
};

/** Returns in how many milliseconds the run is due. */
function writeRun(session: MemorySession, run: NewRun): number {
  const { db, now } = session;
  const dueAt = Math.max(now + run.delayMs, run.startAt === null ? now : Date.parse(run.startAt));
  const delayed = dueAt > now;
  const row: RunRecord = {
    id: run.id,
    definitionId: run.definitionId,
    definitionVersion: run.definitionVersion,
    definitionKey: run.definitionKey,
    ownerId: run.ownerId,
    subject: run.subject && { type: run.subject.type, id: run.subject.id },
    subjectSeen: run.subjectSeen,
    touches: 0,
    actor: run.actor,
    trace: run.trace,
    priority: run.priority,
    queue: run.queue,
    input: run.input,
    createdAt: now,
    enqueuedAt: dueAt,
    deadlineAt: run.deadlineMs === null ? null : dueAt + run.deadlineMs,
    parentRunId: run.parent?.runId ?? null,
    parentStageRunId: run.parent?.stageRunId ?? null,
    parentStep: run.parent?.key ?? null,
    parentWaits: run.parent?.waits ?? false,
    parentTold: false,
    // Of a parent that has ended it is an orphan from the start (CANCEL-3).
    cancelAsked: run.parent?.waits === true && hasEnded(session, run.parent.runId),
    depth: run.parent?.depth ?? 0,
    origin: run.origin ?? null,
    generation: 1,
    status: delayed ? 'PENDING' : 'RUNNING',
    output: null,
    awaited: run.awaited,
    failureCode: null,
    failureMessage: null,
    failureParams: null,
    failedNode: null,
    cancelReason: null,
    terminated: false,
    startedAt: delayed ? null : now,
    finishedAt: null,
  };
  db.runs.insert(row);
  const namesTime = run.startAt !== null || run.delayMs > 0;
  // What `decide` said of a start that names a time leaves this to whoever begins it.
  if (namesTime && !delayed && run.transition.run === null) tell(session, run.id, [{ type: 'run:started' }]);
  applyTransition(session, row, run.transition, { job: null, delayed });
  return dueAt - now;
}
