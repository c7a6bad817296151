import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type { DeliveredChildren, OrphanedRun } from '../../engine/ports/step-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { ChildRunError } from '../../errors/index.js';
import { stepKey } from './memory-database.js';
import type { RunRecord } from './records.js';
import type { MemorySession } from './session.js';
import type { StepRecord } from './step-records.js';
import { endWait } from './waits.js';

/** Tells parents what their children came to (STEP-9). */
export function deliverChildren(session: MemorySession, limit: number): DeliveredChildren {
  const { db } = session;
  let delivered = 0;
  const page = db.endedChildren.rows.slice(0, limit);
  for (const [nr, child] of page.entries()) {
    const row = db.steps.get(stepKey(child.parentStageRunId ?? '', child.parentStep ?? ''));
    if (row?.status === 'waiting' && row.childRunId === child.id) {
      deliverChild(session, child, row, nr);
      delivered++;
    } else {
      // Whoever is to wait for it finds its end when the wait is opened; a retried stage may wait for another one.
      db.runs.patch(child, { parentTold: true });
    }
  }
  return { delivered, told: page.length, more: page.length >= limit };
}

/** Ends the wait for a child with what it came to. */
export function deliverChild(session: MemorySession, child: RunRecord, row: StepRecord, nr = 0): void {
  session.db.runs.patch(child, { parentTold: true });
  if (child.status === 'COMPLETED') endWait(session, row, { status: 'completed', result: child.output }, nr);
  else endWait(session, row, { status: 'failed', failure: JSON.stringify(childFailure(child)) }, nr);
}

/** What its failure says, or why it was cancelled. */
function childFailure({ id, status, failureCode, failureMessage, cancelReason }: RunRecord): FailureRecord {
  const params = { runId: id, status, failureCode, failureMessage: failureMessage ?? cancelReason };
  const { code, name, message } = new ChildRunError(params);
  return { code, name, message, params, retryable: false };
}

/** Open runs whose parents ended and waited for them: to be cancelled (CANCEL-3). One whose parent lives loses its mark. */
export function findOrphans({ db }: MemorySession, limit: number): OrphanedRun[] {
  const orphans: OrphanedRun[] = [];
  for (const run of db.orphans.rows.slice(0, limit)) {
    const parent = db.runs.get(run.parentRunId ?? '');
    if (parent === undefined) continue;
    const { status, terminated } = parent;
    if (isTerminalRun(status)) orphans.push({ runId: run.id, parentEnded: status, terminated });
    else if (wasLeft(db, run, parent)) orphans.push({ runId: run.id, parentEnded: 'CANCELLED', terminated });
    else db.runs.patch(run, { cancelAsked: false });
  }
  return orphans;
}

/** The stage that waits for it was cancelled alone: a branch that came too late. */
function wasLeft(db: MemorySession['db'], { parentStageRunId }: RunRecord, parent: RunRecord): boolean {
  const stageRun = db.stageRuns.get(parentStageRunId ?? '');
  return stageRun?.status === 'CANCELLED' && stageRun.generation === parent.generation;
}

/** Marks the open children that are waited for no more. @param stageRunId of one stage run; left out: of the run, all of them */
export function askToCancelChildren({ db }: MemorySession, run: RunRecord, stageRunId?: string): void {
  for (const child of db.childrenOf.of(run.id)) {
    if (stageRunId !== undefined && child.parentStageRunId !== stageRunId) continue;
    if (child.parentWaits && !child.cancelAsked) db.runs.patch(child, { cancelAsked: true });
  }
}
