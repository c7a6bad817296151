import type { RunState, StageRunState } from '../../engine/state/rows.js';
import type { RunRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

/** What `decide` sees of a run. */
export function runState({ db }: MemorySession, run: RunRecord): RunState {
  const all = db.stageRunsOf.of(run.id);
  const present = all.filter(({ generation }) => generation === run.generation);
  return {
    id: run.id,
    status: run.status,
    generation: run.generation,
    priority: run.priority,
    queue: run.queue,
    input: run.input,
    stageRuns: present.sort((a, b) => a.ordinal - b.ordinal).map(stageRunState),
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
  outcome: row.outcome,
});
