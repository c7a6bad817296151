import type { ChangeDecision, ChangeOptions, ChangeResult, LockedRun } from '../../engine/ports/run-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { keepAuditOf } from './audit.js';
import type { RunRecord } from './records.js';
import { jobsThatMove } from './escalated-jobs.js';
import { findRun } from './run-reads.js';
import { runState } from './run-state.js';
import type { MemorySession } from './session.js';
import { applyTransition } from './transitions.js';
import { runRow } from './views.js';

export function changeRun<R>(
  session: MemorySession,
  runId: string,
  scope: OwnerScope,
  decide: (run: LockedRun) => ChangeDecision<R>,
  { key, audit }: ChangeOptions<R> = {},
): ChangeResult<R> | undefined {
  const run = findRun(session, runId, scope);
  if (run === undefined) return undefined;
  const { now, db } = session;
  const digest = key?.toString('hex');
  const { transition, answer } = decide({
    row: runRow(run),
    state: runState(session, run),
    jobCount: jobsThatMove(session, run).length,
    idleMs: now - lastMoveOf(session, run),
    deadlineInMs: run.deadlineAt === null ? null : run.deadlineAt - now,
    repeated: digest !== undefined && db.startKeys.get(digest) !== undefined,
  });
  if (audit) keepAuditOf(session, run, audit(answer));
  if (transition === null) return { answer, changed: false, finished: null };
  if (digest !== undefined) db.startKeys.insert({ digest, runId, inputDigest: null, expiresAt: null, result: null });
  return { answer, changed: true, finished: applyTransition(session, run, transition, { job: null }) };
}

/** When a run or one of its stage runs last began or ended. */
export function lastMoveOf({ db }: MemorySession, run: RunRecord): number {
  let last = Math.max(run.createdAt, run.startedAt ?? 0);
  for (const { createdAt, startedAt, finishedAt } of db.stageRunsOf.of(run.id)) {
    last = Math.max(last, createdAt, startedAt ?? 0, finishedAt ?? 0);
  }
  return last;
}
