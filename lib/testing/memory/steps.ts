import type { StepOrder, StepOutcome, StepVerdict, StepWrite } from '../../engine/ports/step-store.js';
import type { JsonText } from '../../engine/state/rows.js';
import { findFenced } from './fences.js';
import { hasOutcome, isHeldByAnother, NEW_STEP } from './ledger.js';
import { stepKey } from './memory-database.js';
import type { MemorySession } from './session.js';
import type { StepRecord } from './step-records.js';
import { openWait } from './waits.js';

type StepWriteOf<Op extends StepWrite['op']> = Extract<StepWrite, { readonly op: Op }>;

export function writeStep(session: MemorySession, write: StepWrite): StepVerdict {
  setPlaces(session, write.lease, write.orders);
  switch (write.op) {
    case 'begin':
      return begin(session, write);
    case 'finish':
      return write.begun ? finishBegun(session, write) : finishUnbegun(session, write);
    case 'wait':
      return awaitAll(session, write);
  }
}

/** One sequencer: only the attempt that holds the stage run says in which order outcomes reached its body. */
export function setPlaces(session: MemorySession, lease: StepWrite['lease'], orders: readonly StepOrder[]): void {
  if (!isHolder(session, lease)) return;
  for (const { key, seq } of orders) {
    const row = session.db.steps.get(stepKey(lease.stageRunId, key));
    if (row !== undefined) session.db.steps.patch(row, { seq });
  }
}

const isHolder = ({ db }: MemorySession, { stageRunId, token }: StepWrite['lease']): boolean =>
  db.stageRuns.get(stageRunId)?.claimToken === token;

function begin(session: MemorySession, { lease, key, kind, leaseMs }: StepWriteOf<'begin'>): StepVerdict {
  const { db, now } = session;
  const fenced = findFenced(session, lease);
  if (fenced === undefined) return 'not-fenced';
  const known = db.steps.get(stepKey(lease.stageRunId, key));
  if (known !== undefined && hasOutcome(known)) return 'settled';
  if (known !== undefined && isTaken(session, known, lease.token)) return 'held';
  const row = known ?? insertStep(session, lease, key, kind);
  db.steps.patch(row, {
    kind,
    status: 'running',
    token: lease.token,
    leaseUntil: now + leaseMs,
    attempt: row.reopened ? 1 : row.attempt + 1,
    reopened: false,
    dueAt: null,
    seq: null,
    firedAt: null,
  });
  return 'written';
}

/** A body runs, or waits out its backoff under another attempt. */
function isTaken(session: MemorySession, row: StepRecord, token: string): boolean {
  if (row.status !== 'waiting') return isHeldByAnother(session, row, token);
  const isBackoff = row.kind === 'run' || row.kind === 'once';
  return !(isBackoff && (row.token === token || (row.dueAt !== null && row.dueAt <= session.now)));
}

function insertStep(
  session: MemorySession,
  lease: StepWrite['lease'],
  key: string,
  kind: StepRecord['kind'],
): StepRecord {
  const { db, now } = session;
  const { runId, stageRunId } = lease;
  const ownerId = db.runs.get(runId)?.ownerId ?? null;
  return db.steps.insert({ ...NEW_STEP, stageRunId, key, runId, ownerId, kind, status: 'ready', createdAt: now });
}

/**
 * The end of a body, fenced by its row alone: one whose attempt is over still records what it did. It gives no place then, and
 * a replay that waits for it goes on.
 */
function finishBegun(session: MemorySession, write: StepWriteOf<'finish'>): StepVerdict {
  const { lease, key, outcome } = write;
  const row = session.db.steps.get(stepKey(lease.stageRunId, key));
  if (row === undefined) return 'not-fenced';
  const isMine = row.token === lease.token;
  // Of a call whose answer was lost: the next try stands already.
  if (isMine && outcome.kind === 'again' && (row.status === 'waiting' || row.status === 'ready')) return 'written';
  if (row.status !== 'running' || !isMine) return hasOutcome(row) ? 'settled' : 'not-fenced';
  const isLive = isHolder(session, lease);
  writeOutcome(session, row, outcome, isLive ? write.seq : null);
  if (!isLive || (write.seq === null && outcome.kind !== 'again')) endLeaseWaits(session, lease.stageRunId);
  keepEffect(session, write);
  return 'written';
}

function finishUnbegun(session: MemorySession, write: StepWriteOf<'finish'>): StepVerdict {
  const { lease, key, kind, outcome, seq } = write;
  if (findFenced(session, lease) === undefined) return 'not-fenced';
  const { db } = session;
  const known = db.steps.get(stepKey(lease.stageRunId, key));
  if (known !== undefined && hasOutcome(known)) return 'settled';
  if (known !== undefined && isHeldByAnother(session, known, lease.token)) return 'held';
  const row = known ?? insertStep(session, lease, key, kind);
  const before = row.reopened ? 0 : row.attempt;
  const tries = kind === 'poll' || kind === 'transaction' ? 1 : 0;
  const token = kind === 'transaction' ? lease.token : row.token;
  db.steps.patch(row, { kind, reopened: false, attempt: before + tries, token });
  writeOutcome(session, row, outcome, seq);
  keepEffect(session, write);
  return 'written';
}

function writeOutcome({ db, now }: MemorySession, row: StepRecord, outcome: StepOutcome, seq: number | null): void {
  switch (outcome.kind) {
    case 'completed': {
      const { result } = outcome;
      return db.steps.patch(row, { status: 'completed', result, failure: null, leaseUntil: null, seq, firedAt: now });
    }
    case 'failed': {
      const { failure } = outcome;
      return db.steps.patch(row, { status: 'failed', failure, leaseUntil: null, seq, firedAt: now });
    }
    case 'again': {
      const dueAt = Math.min(now + outcome.delayMs, row.expiresAt ?? Infinity);
      const { failure } = outcome;
      return db.steps.patch(row, { status: 'waiting', failure, leaseUntil: null, dueAt, seq: null, firedAt: null });
    }
  }
}

/** A replay that was suspended until this body ends has its answer. */
function endLeaseWaits({ db, now }: MemorySession, stageRunId: string): void {
  for (const row of db.stepsOf.of(stageRunId)) {
    if (row.kind === 'lease' && row.status === 'waiting') db.steps.patch(row, { dueAt: now });
  }
}

/** The first result under an effect key stays (STEP-8). */
function keepEffect({ db }: MemorySession, { lease, effect, outcome }: StepWriteOf<'finish'>): void {
  if (effect === null || outcome.kind !== 'completed') return;
  const digest = effect.toString('hex');
  const held = db.startKeys.get(digest);
  const ownerOf = (runId: string): string | null => db.runs.get(runId)?.ownerId ?? null;
  if (held !== undefined && ownerOf(held.runId) === ownerOf(lease.runId)) return;
  if (held !== undefined) db.startKeys.remove(held);
  const { result } = outcome;
  db.startKeys.insert({ digest, runId: lease.runId, inputDigest: null, expiresAt: null, result });
}

/** Results kept under effect keys for an owner, by hex digest. */
export function readEffects(
  { db }: MemorySession,
  digests: readonly Buffer[],
  ownerId: string | null,
): Map<string, JsonText> {
  const results = new Map<string, JsonText>();
  for (const digest of digests.map((bytes) => bytes.toString('hex'))) {
    const kept = db.startKeys.get(digest);
    if (!kept || (db.runs.get(kept.runId)?.ownerId ?? null) !== ownerId) continue;
    if (kept.result !== undefined && kept.result !== null) results.set(digest, kept.result);
  }
  return results;
}

function awaitAll(session: MemorySession, { lease, waits }: StepWriteOf<'wait'>): StepVerdict {
  const fenced = findFenced(session, lease);
  if (fenced === undefined) return 'not-fenced';
  const opened = waits.filter((wait) => openWait(session, fenced, lease.token, wait));
  return waits.length > 0 && opened.length === 0 ? 'settled' : 'written';
}
