import { encodeJson, isPlainText, isSubject, MAX_KEY_LENGTH, SUBJECT_RULE } from '../../engine/codec/index.js';
import { ENTITY_KEY_PREFIX } from '../../engine/graph/index.js';
import type { SubjectName } from '../../engine/ports/index.js';
import { InvalidEventError, InvalidInputError, type SchemaIssue } from '../../errors/index.js';

/** Message ids, of webhooks too, are stored as digests: the length only guards against a payload passed by mistake. */
export const LONGEST_MESSAGE_ID = 1_000;

/** Gathers what is wrong with an event or a signal, and says all of it at once. */
export class MessageChecks {
  readonly #issues: SchemaIssue[] = [];

  constructor(private readonly what: string) {}

  known(given: object, names: readonly string[]): void {
    for (const name of Object.keys(given)) {
      if (!names.includes(name)) this.#add(name, `is not an option; there are ${names.join(', ')}`);
    }
  }

  text(path: string, value: unknown): void {
    if (!isPlainText(value, MAX_KEY_LENGTH))
      this.#add(path, `must be a text of 1 to ${MAX_KEY_LENGTH} characters, without U+0000`);
  }

  /** What changes of entities are told by is nobody's to send. */
  appKey(path: string, value: unknown): void {
    if (typeof value === 'string' && value.startsWith(ENTITY_KEY_PREFIX))
      this.#add(path, `must not begin with "${ENTITY_KEY_PREFIX}", which changes of entities are told by`);
  }

  messageId(value: unknown): void {
    const holds =
      value === undefined || (typeof value === 'string' && value !== '' && value.length <= LONGEST_MESSAGE_ID);
    if (!holds) this.#add('messageId', `must be a text of 1 to ${LONGEST_MESSAGE_ID} characters`);
  }

  /** A subject that is named and undefined is a mistake: without it the event would be about nothing (fault A18). */
  subject(event: { readonly subject?: SubjectName | null }): SubjectName | null {
    if (!('subject' in event) || event.subject === null) return null;
    if (isSubject(event.subject)) return { type: event.subject.type, id: event.subject.id };
    this.#add('subject', SUBJECT_RULE);
    return null;
  }

  payload(value: unknown, maxBytes: number): string {
    try {
      return encodeJson(value, { kind: 'input', path: 'payload', maxBytes, limit: 'limits.maxOutputBytes' });
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      this.#issues.push(...error.issues);
      return '';
    }
  }

  /** @throws InvalidEventError with everything that was found */
  end(): void {
    if (this.#issues.length > 0) throw new InvalidEventError({ what: this.what, issues: this.#issues });
  }

  #add(path: string, message: string): void {
    this.#issues.push({ path, message });
  }
}
