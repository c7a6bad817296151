import type { RuntimeLog } from '../../../../lib/runtime/background/runtime-log.js';

/** Keeps what was logged. */
export class CollectedLog implements RuntimeLog {
  readonly lines: { readonly level: keyof RuntimeLog; readonly message: string }[] = [];

  #told: (() => void)[] = [];

  debug(message: string): void {
    this.#keep('debug', message);
  }

  log(message: string): void {
    this.#keep('log', message);
  }

  warn(message: string): void {
    this.#keep('warn', message);
  }

  error(message: string): void {
    this.#keep('error', message);
  }

  /** Messages of a level that hold a text. */
  matching(level: keyof RuntimeLog, part: string): string[] {
    return this.lines
      .filter((line) => line.level === level && line.message.includes(part))
      .map(({ message }) => message);
  }

  /** Resolves once there is a message of a level that holds a text. */
  async has(level: keyof RuntimeLog, part: string): Promise<void> {
    while (this.matching(level, part).length === 0) await new Promise<void>((resolve) => this.#told.push(resolve));
  }

  #keep(level: keyof RuntimeLog, message: string): void {
    this.lines.push({ level, message });
    for (const tell of this.#told.splice(0)) tell();
  }
}
