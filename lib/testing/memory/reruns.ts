import type { Transition } from '../../engine/state/rows.js';
import { nodeVisitKey } from './memory-database.js';
import type { RunRecord } from './records.js';
import type { MemorySession } from './session.js';

/**
 * A new generation: these stage runs go over to it, with the counters of their nodes; all others stay behind (RUN-5). It has its
 * deadline from now on: the old one may have passed long ago.
 */
export function beginGeneration({ db, now }: MemorySession, run: RunRecord, kept: readonly string[]): void {
  const before = run.generation;
  const generation = before + 1;
  const deadlineAt = run.deadlineAt === null ? null : now + (run.deadlineAt - run.enqueuedAt);
  db.runs.patch(run, { generation, deadlineAt });
  for (const id of kept) {
    const stageRun = db.stageRuns.get(id);
    if (stageRun?.runId !== run.id || stageRun.generation !== before) continue;
    db.stageRuns.patch(stageRun, { generation });
    const { node, visit } = stageRun;
    const counter = db.nodeVisits.get(nodeVisitKey({ runId: run.id, generation: before, node, visit }));
    if (counter === undefined) continue;
    db.nodeVisits.remove(counter);
    db.nodeVisits.insert({ ...counter, generation });
  }
}

/** The run goes over to another version of its definition, its jobs with it (VER-1). */
export function migrate(
  { db }: MemorySession,
  run: RunRecord,
  { version, definitionKey }: NonNullable<Transition['migrate']>,
): void {
  db.runs.patch(run, { definitionVersion: version, definitionKey });
  for (const job of db.jobsOf.of(run.id)) db.jobs.patch(job, { definitionKey });
}
