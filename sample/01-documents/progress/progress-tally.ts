import type { Progress } from './progress.js';

export type TalliedStatus = 'running' | 'retrying' | 'completed' | 'failed' | 'cancelled';

interface RunTally {
  status: TalliedStatus;
  readonly stages: Map<string, TalliedStatus>;
}

/**
 * Counts where documents stand, from what is told of their runs in whatever order and however often: an event that
 * comes twice changes nothing, and one that comes late doesn't undo what is known. Only a manual retry goes back.
 */
export class ProgressTally {
  private readonly runs = new Map<string, RunTally>();
  private readonly tracked = new Set<string>();

  /** @param stageIds in the order in which to show them */
  constructor(private readonly stageIds: readonly string[]) {}

  /** Counts this run. What was told of it before is not lost: its events may overtake the answer to its start. */
  track(runId: string): void {
    this.tracked.add(runId);
  }

  noteRun(runId: string, status: TalliedStatus): void {
    const run = this.runOf(runId);
    if (!isOver(run.status)) run.status = status;
  }

  noteStage(runId: string, stageId: string, status: TalliedStatus): void {
    const { stages } = this.runOf(runId);
    const before = stages.get(stageId);
    if (before === undefined || !isOver(before)) stages.set(stageId, status);
  }

  /** A failed run goes on: its stages that did not complete are open again. */
  reopen(runId: string): void {
    const run = this.runOf(runId);
    run.status = 'running';
    for (const [stageId, status] of run.stages) if (status !== 'completed') run.stages.delete(stageId);
  }

  progress(): Progress {
    const tracked = [...this.tracked].map((runId) => this.runOf(runId));
    const count = (status: TalliedStatus, of: (run: RunTally) => TalliedStatus | undefined): number =>
      tracked.reduce((sum, run) => (of(run) === status ? sum + 1 : sum), 0);
    return {
      documents: tracked.length,
      completed: count('completed', (run) => run.status),
      failed: count('failed', (run) => run.status),
      cancelled: count('cancelled', (run) => run.status),
      stages: this.stageIds.map((id) => ({
        id,
        // A run that is over has no stage running, whatever was last told of it.
        running: count('running', (run) => (isOver(run.status) ? undefined : run.stages.get(id))),
        retrying: count('retrying', (run) => (isOver(run.status) ? undefined : run.stages.get(id))),
        completed: count('completed', (run) => run.stages.get(id)),
        failed: count('failed', (run) => run.stages.get(id)),
      })),
    };
  }

  private runOf(runId: string): RunTally {
    let run = this.runs.get(runId);
    if (!run) {
      run = { status: 'running', stages: new Map() };
      this.runs.set(runId, run);
    }
    return run;
  }
}

function isOver(status: TalliedStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
