import { describeStage, finishedOf, type Progress, type ProgressView } from './progress.js';

/**
 * Progress for a log file or a pipe: one line for each step of progress, never the same line twice, no control codes.
 */
export class PlainProgress implements ProgressView {
  private shownStep = -1;
  private last: Progress | undefined;
  private lastLine = '';

  /** @param percentPerLine how much progress is worth a line */
  constructor(
    private readonly writeLine: (line: string) => void,
    private readonly percentPerLine = 10,
  ) {}

  show(progress: Progress): void {
    this.last = progress;
    const step = Math.floor(percentOf(progress) / this.percentPerLine);
    if (step === this.shownStep) return;
    this.shownStep = step;
    this.write(progress);
  }

  stop(): void {
    if (this.last) this.write(this.last);
    this.last = undefined;
  }

  private write(progress: Progress): void {
    const failed = progress.failed > 0 ? `, ${progress.failed} failed` : '';
    const cancelled = progress.cancelled > 0 ? `, ${progress.cancelled} cancelled` : '';
    const stages = progress.stages.map((stage) => `${stage.id}: ${describeStage(stage)}`).join(' | ');
    const line = `${finishedOf(progress)}/${progress.documents} documents${failed}${cancelled} | ${stages}`;
    if (line === this.lastLine) return;
    this.lastLine = line;
    this.writeLine(line);
  }
}

/** By stages, not by documents: with many documents side by side, the first of them ends late. */
function percentOf({ documents, stages }: Progress): number {
  const total = documents * stages.length;
  const done = stages.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  return total === 0 ? 100 : (100 * done) / total;
}
