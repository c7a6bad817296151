import type { RuntimeLog } from '../../../../lib/runtime/background/runtime-log.js';

/** Keeps what was logged. */
export class CollectedLog implements RuntimeLog {
  readonly lines: { readonly level: keyof RuntimeLog; readonly message: string }[] = [];

  debug(message: string): void {
    this.lines.push({ level: 'debug', message });
  }

  log(message: string): void {
    this.lines.push({ level: 'log', message });
  }

  warn(message: string): void {
    this.lines.push({ level: 'warn', message });
  }

  error(message: string): void {
    this.lines.push({ level: 'error', message });
  }

  /** Messages of a level that hold a text. */
  matching(level: keyof RuntimeLog, part: string): string[] {
    return this.lines
      .filter((line) => line.level === level && line.message.includes(part))
      .map(({ message }) => message);
  }
}
