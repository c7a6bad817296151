import type { DecideSettled, FinishedRun, SettleEvent } from '../../engine/ports/work-store.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import type { EngineEvent, LostOutcome, StageOutcome } from '../../engine/state/rows.js';
import { heldJobOf } from './jobs.js';
import { nodeVisitKey } from './memory-database.js';
import { endAttempt } from './outcomes.js';
import { tell } from './outbox-writes.js';
import type { RunRecord, StageRunRecord } from './records.js';
import { runState } from './run-state.js';
import type { MemorySession } from './session.js';
import { applyTransition } from './transitions.js';

export interface EndedAttempt {
  readonly stageRun: StageRunRecord;
  readonly outcome: StageOutcome | LostOutcome;
  readonly events: readonly EngineEvent[];
}

/**
 * Stores how attempts of one run ended and then, from the rows as they are now, what follows.
 *
 * Storing comes first for all of them: two last branches in one call must see each other ended (fault D4).
 */
export function settleRun(
  session: MemorySession,
  run: RunRecord,
  ended: readonly EndedAttempt[],
  decide: DecideSettled,
): FinishedRun | null {
  const { db } = session;
  const happened: SettleEvent[] = [];

  for (const { stageRun, outcome, events } of ended) {
    const job = heldJobOf(session, stageRun);
    endAttempt(session, stageRun, job, outcome);
    tell(session, run.id, events);
    if (outcome.kind === 'retry' || outcome.kind === 'released' || outcome.kind === 'lost') continue;
    if (job !== null) db.jobs.remove(job);
    if (isEscalation(stageRun)) {
      const failure = outcome.kind === 'failed' ? outcome.failure : null;
      happened.push({ type: 'escalation-ended', stageRunId: stageRun.id, failure });
    } else if (outcome.kind === 'failed') {
      happened.push({ type: 'stage-failed', stageRunId: stageRun.id, key: stageRun.key, failure: outcome.failure });
    } else if (closeOne(session, stageRun)) {
      happened.push({ type: 'node-settled', node: stageRun.node, visit: stageRun.visit });
    }
  }

  if (happened.length === 0) return null;
  const transition = decide(run.definitionKey, runState(session, run), happened);
  return applyTransition(session, run, transition, { job: null });
}

/** Counts a stage run of a node's visit as ended. True when it was the last; a node with one stage has no counter. */
function closeOne({ db }: MemorySession, { runId, generation, node, visit }: StageRunRecord): boolean {
  const counter = db.nodeVisits.get(nodeVisitKey({ runId, generation, node, visit }));
  if (counter === undefined) return true;
  db.nodeVisits.patch(counter, { open: counter.open - 1 });
  return counter.open === 0;
}
