import { BarProgress } from './bar-progress.js';
import { PlainProgress } from './plain-progress.js';
import type { ProgressView } from './progress.js';

/** Bars where a person looks on, plain lines where the output goes to a file or a pipe. */
export function openProgressView(stream: NodeJS.WritableStream & { isTTY?: boolean }): ProgressView {
  return stream.isTTY ? new BarProgress(stream) : new PlainProgress((line) => stream.write(`${line}\n`));
}
