import type { RunState, StageRunState } from '../../engine/state/rows.js';
import type { RunRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

/** What `decide` sees of a run. */
export function runState({ db }: MemorySession, run: RunRecord): RunState {
  const all = db.stageRunsOf.of(run.id);
  const newest = new Map<string, StageRunRecord>();
  for (const row of all) {
    if (row.generation !== run.generation) continue;
    const known = newest.get(row.key);
    if (known === undefined || known.visit < row.visit) newest.set(row.key, row);
  }
  return {
    id: run.id,
    status: run.status,
    generation: run.generation,
    priority: run.priority,
    queue: run.queue,
    input: run.input,
    stageRuns: [...newest.values()].sort((a, b) => a.ordinal - b.ordinal).map(stageRunState),
    stageRunCount: Math.max(0, ...all.map((row) => row.ordinal)),
  };
}

const stageRunState = (row: StageRunRecord): StageRunState => ({
  id: row.id,
  node: row.node,
  key: row.key,
  stage: row.stage,
  visit: row.visit,
  status: row.status,
  attempt: row.attempt,
  ordinal: row.ordinal,
  requeues: row.requeues,
  output: row.output,
});
