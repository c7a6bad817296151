/** Where the documents of one stage stand. A document whose stage has not begun yet is in none of the counts. */
export interface StageProgress {
  readonly id: string;
  readonly running: number;
  /** Failed for the moment: the next attempt is due later. */
  readonly retrying: number;
  readonly completed: number;
  readonly failed: number;
}

/** What a progress view draws: counts only, so that it can be drawn anew at any time. */
export interface Progress {
  readonly documents: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly stages: readonly StageProgress[];
}

/** Shows how far the documents are, until `stop`. */
export interface ProgressView {
  show(progress: Progress): void;
  /** Draws the last state, whatever the view left out before, and gives the terminal back. */
  stop(): void;
}

export function finishedOf(progress: Progress): number {
  return progress.completed + progress.failed + progress.cancelled;
}

/** @example describeStage({ id: 'read', running: 2, retrying: 1, completed: 40, failed: 0 }) // '40 done, 2 running, 1 retrying' */
export function describeStage({ running, retrying, completed, failed }: StageProgress): string {
  const parts = [`${completed} done`];
  if (running > 0) parts.push(`${running} running`);
  if (retrying > 0) parts.push(`${retrying} retrying`);
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(', ');
}
