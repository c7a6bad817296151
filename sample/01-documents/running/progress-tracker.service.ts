import { Injectable } from '@nestjs/common';
import { OnWorkflowEvent, type RunHistoryView, type WorkflowEvent } from 'nestjs-workflow-engine';
import { STAGE_IDS } from '../document-analysis.workflow.js';
import { ProgressTally, type TalliedStatus } from '../progress/progress-tally.js';

const RUN_STATUS: Readonly<Record<RunHistoryView['run']['status'], TalliedStatus>> = {
  PENDING: 'running',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

/** Follows the runs of this process's documents by their events, which the engine tells after each commit. */
@Injectable()
export class ProgressTracker {
  readonly tally = new ProgressTally(STAGE_IDS);

  @OnWorkflowEvent(['run:completed', 'run:failed', 'run:cancelled', 'run:retried'])
  onRun({ type, run }: WorkflowEvent<'run:completed' | 'run:failed' | 'run:cancelled' | 'run:retried'>): void {
    if (type === 'run:retried') this.tally.reopen(run.id);
    else this.tally.noteRun(run.id, type.slice('run:'.length) as TalliedStatus);
  }

  @OnWorkflowEvent(['stage:started', 'stage:completed', 'stage:retrying', 'stage:failed'])
  onStage({
    type,
    run,
    stage,
  }: WorkflowEvent<'stage:started' | 'stage:completed' | 'stage:retrying' | 'stage:failed'>): void {
    const status = type === 'stage:started' ? 'running' : (type.slice('stage:'.length) as TalliedStatus);
    this.tally.noteStage(run.id, stage.key, status);
  }

  /** Takes over what is stored of a run, for one that an earlier process began. */
  noteHistory({ run, stages }: RunHistoryView): void {
    this.tally.track(run.id);
    for (const { key, status, attempt } of stages) {
      if (status === 'COMPLETED') this.tally.noteStage(run.id, key, 'completed');
      else if (status === 'FAILED') this.tally.noteStage(run.id, key, 'failed');
      else if (status === 'PENDING' && attempt > 0) this.tally.noteStage(run.id, key, 'retrying');
    }
    this.tally.noteRun(run.id, RUN_STATUS[run.status]);
  }
}
