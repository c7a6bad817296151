import { Injectable } from '@nestjs/common';
import { type RunHistoryView, WorkflowError, WorkflowService } from 'nestjs-workflow-engine';
import { DocumentAnalysis } from '../document-analysis.workflow.js';
import type { SampleDocument } from '../documents/document.js';
import { documentReportSchema, type DocumentOutcome } from '../report/document-report.js';
import { eachOf } from './each-of.js';
import { ProgressTracker } from './progress-tracker.service.js';

export interface DocumentRun {
  readonly documentId: string;
  readonly runId: string;
  /** False when an earlier call, or an earlier process, had started it. */
  readonly created: boolean;
}

export interface StartedRuns {
  readonly runs: readonly DocumentRun[];
  /** Of those that were begun before, the ones that had also ended by then, by the database's clock. */
  readonly endedBefore: number;
}

/** How many calls to the database are made side by side when there is one for each document. */
const CALLS_AT_ONCE = 8;

/** Starts the analysis of documents, waits for it, and says what came of it. */
@Injectable()
export class DocumentRuns {
  private runs: readonly DocumentRun[] = [];

  constructor(
    private readonly workflows: WorkflowService,
    private readonly tracker: ProgressTracker,
  ) {}

  /** Analyses a document anew, or, with a key used before, answers with the run that key started. */
  async start(documentId: string, idempotencyKey?: string): Promise<DocumentRun> {
    const { run, created } = await this.workflows.start(DocumentAnalysis, { documentId }, { idempotencyKey });
    return { documentId, runId: run.id, created };
  }

  /**
   * Makes sure that each document has its run in this batch. The key names batch and document, so a second call, in
   * this process or after a crash of it, finds the runs of the first: finished ones stay finished, the others go on.
   *
   * @param bootedAt when this process began to work, on the database's clock
   */
  async startAll(documents: readonly SampleDocument[], batch: string, bootedAt: Date): Promise<StartedRuns> {
    const starts = documents.map(({ id }) => ({ input: { documentId: id }, idempotencyKey: `${batch}:${id}` }));
    const started = await this.workflows.startMany(DocumentAnalysis, starts);
    this.runs = started.map(({ run, created }, i) => ({ documentId: documents[i]!.id, runId: run.id, created }));
    for (const { runId } of this.runs) this.tracker.tally.track(runId);
    const earlier = this.runs.filter(({ created }) => !created);
    const histories = await eachOf(earlier, CALLS_AT_ONCE, ({ runId }) => this.workflows.history(runId));
    for (const history of histories) this.tracker.noteHistory(history);
    const endedBefore = histories.filter(({ run }) => run.finishedAt !== null && run.finishedAt <= bootedAt).length;
    return { runs: this.runs, endedBefore };
  }

  /** Resolves when every run of `startAll` has ended, however it did. @throws ShuttingDownError when the app closes */
  async waitForAll(): Promise<void> {
    await Promise.all(this.runs.map(({ runId }) => this.waitFor(runId)));
  }

  /** What is stored of the runs of `startAll`, in the order of the documents. */
  async outcomes(): Promise<DocumentOutcome[]> {
    return eachOf(this.runs, CALLS_AT_ONCE, async ({ documentId, runId }) => {
      const history = await this.workflows.history(runId);
      this.tracker.noteHistory(history);
      return outcomeOf(documentId, history);
    });
  }

  private async waitFor(runId: string): Promise<void> {
    try {
      await this.workflows.result(runId);
    } catch (error) {
      // A run that failed or was cancelled has ended too; its history tells how.
      const ended = WorkflowError.is(error) && (error.code === 'RUN_FAILED' || error.code === 'RUN_CANCELLED');
      if (!ended) throw error;
    }
  }
}

function outcomeOf(documentId: string, { run, stages }: RunHistoryView): DocumentOutcome {
  // Attempts that failed and were followed by another one; the last failure of a failed stage was not.
  const retries = stages.reduce((sum, stage) => sum + Math.max(0, stage.attempt - 1), 0);
  if (run.status === 'COMPLETED') {
    return { status: 'COMPLETED', report: documentReportSchema.parse(run.output), retries };
  }
  if (run.status === 'FAILED') {
    return { status: 'FAILED', documentId, retries, code: run.failure?.code, message: run.failure?.message };
  }
  return { status: run.status === 'CANCELLED' ? 'CANCELLED' : 'UNFINISHED', documentId, retries };
}
