import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import { describeStage, finishedOf, type Progress, type ProgressView } from './progress.js';

const LABEL_WIDTH = 12;

/** Progress on a terminal: a bar for the documents and one for each stage, redrawn in place. */
export class BarProgress implements ProgressView {
  private readonly bars: MultiBar;
  private readonly barOf = new Map<string, SingleBar>();

  constructor(stream: NodeJS.WritableStream) {
    this.bars = new MultiBar(
      {
        stream,
        format: '{label} {bar} {percentage}% {note}',
        hideCursor: true,
        // Bars are redrawn by `show`; Ctrl-C belongs to the app, which has work to hand back first.
        gracefulExit: false,
        // A long note would wrap and leave lines behind at each redraw.
        linewrap: false,
        barsize: 24,
      },
      Presets.shades_grey,
    );
  }

  show(progress: Progress): void {
    const finished = finishedOf(progress);
    const failed = progress.failed > 0 ? `, ${progress.failed} failed` : '';
    this.update('documents', finished, progress.documents, `${finished} of ${progress.documents}${failed}`);
    for (const stage of progress.stages) {
      this.update(stage.id, stage.completed + stage.failed, progress.documents, describeStage(stage));
    }
    this.bars.update();
  }

  stop(): void {
    this.bars.stop();
  }

  private update(id: string, value: number, total: number, note: string): void {
    const payload = { label: id.padEnd(LABEL_WIDTH), note };
    const bar = this.barOf.get(id);
    if (bar) {
      bar.setTotal(total);
      bar.update(value, payload);
    } else {
      this.barOf.set(id, this.bars.create(total, value, payload));
    }
  }
}
