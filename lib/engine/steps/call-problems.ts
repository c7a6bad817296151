import { InvalidStepError } from '../../errors/index.js';
import { isPlainText, isStoredDate, isStoredInstant, isSubject, MAX_KEY_LENGTH } from '../codec/index.js';
import { MAX_NAME_LENGTH } from './step-key.js';

/** What is wrong with one durable call, all of it. */
export class CallProblems {
  readonly #found: { path: string; message: string }[] = [];

  get any(): boolean {
    return this.#found.length > 0;
  }

  need(holds: boolean, path: string, message: string): void {
    if (!holds) this.#found.push({ path, message });
  }

  name(name: unknown): void {
    this.#text('name', name, MAX_NAME_LENGTH);
  }

  body(body: unknown): void {
    this.need(typeof body === 'function', 'fn', 'must be a function');
  }

  /** As `emit` and `signal` take it. */
  key(path: string, key: unknown): void {
    this.#text(path, key, MAX_KEY_LENGTH);
  }

  /** Left out it is any subject; undefined would be taken for that by mistake (fault A18). */
  subject(options: object): void {
    const holds = !('subject' in options) || isSubject(options.subject);
    this.need(holds, 'subject', 'must be { type, id }, both texts; leave it out for events about anything');
  }

  onTimeout(onTimeout: unknown): void {
    const known = onTimeout === undefined || onTimeout === 'throw' || onTimeout === 'return';
    this.need(known, 'onTimeout', "must be 'throw' or 'return'");
  }

  error(what: string): InvalidStepError {
    return new InvalidStepError({ what, problems: this.#found });
  }

  #text(path: string, text: unknown, max: number): void {
    this.need(isPlainText(text, max), path, `must be a text of 1 to ${max} characters, without U+0000`);
  }
}

/** An instant as the store reads it; undefined when it is none. */
export function instant(date: unknown): string | undefined {
  if (date instanceof Date) return isStoredDate(date) ? date.toISOString() : undefined;
  if (typeof date !== 'string' || !ZONED.test(date) || !isStoredInstant(date)) return undefined;
  return date;
}

/** Without a zone it would be another instant in each process. */
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
