import { cleanText, derivedId, encodeJson, isPlainText } from '../../engine/codec/index.js';
import type { NextId } from '../../engine/ports/index.js';
import type { AttemptNotes, NewAnnotation, NewLogLine, StageProgress } from '../../engine/state/notes.js';
import type { JsonText } from '../../engine/state/rows.js';
import { InvalidStepError } from '../../errors/index.js';

/** What one attempt may note down. More lines are counted, not kept; more annotations are refused. */
const NOTE_LIMITS = {
  lines: 200,
  lineLength: 2_000,
  annotations: 100,
  keyLength: 200,
  annotationBytes: 16 * 1024,
  progressLength: 500,
} as const;

/**
 * Collects what a body notes down, until its attempt's outcome takes it along (ANN-1, OBS-3).
 *
 * What a replayed body notes between its steps it noted before. Such a note's id is made of stage run, attempt, what it says
 * and the how-manieth of its like it is, so that it stands once. What is noted inside a step, a poll or a check is noted as
 * often as that runs.
 */
export class AttemptNotebook {
  readonly #annotations: NewAnnotation[] = [];
  readonly #lines: NewLogLine[] = [];
  readonly #alike = new Map<string, number>();
  #dropped = 0;
  #progress: StageProgress | null = null;

  constructor(
    private readonly of: { readonly stageRunId: string; readonly attempt: number; readonly actor: JsonText | null },
    private readonly nextId: NextId,
    /** Whether what is noted now is noted for the first time. */
    private readonly isLive: () => boolean,
  ) {}

  line(level: NewLogLine['level'], message: string): void {
    if (this.#lines.length >= NOTE_LIMITS.lines) {
      this.#dropped++;
      return;
    }
    const text = cleanText(message, NOTE_LIMITS.lineLength);
    this.#lines.push({ id: this.#id(`line ${level} ${text}`), level, message: text });
  }

  /** @throws InvalidStepError, InvalidOutputError */
  annotate(key: string, value: unknown, scope: NewAnnotation['scope']): void {
    const what = `ctx.annotate(${JSON.stringify(key)})`;
    const problems = [
      {
        holds: isPlainText(key, NOTE_LIMITS.keyLength),
        path: 'key',
        message: `must be a text of 1 to ${NOTE_LIMITS.keyLength} characters`,
      },
      { holds: scope === 'run' || scope === 'stage', path: 'scope', message: "must be 'run' or 'stage'" },
      {
        holds: this.#annotations.length < NOTE_LIMITS.annotations,
        path: '',
        message: `an attempt may annotate ${NOTE_LIMITS.annotations} times`,
      },
    ].filter(({ holds }) => !holds);
    if (problems.length > 0)
      throw new InvalidStepError({ what, problems: problems.map(({ path, message }) => ({ path, message })) });
    const limits = { maxBytes: NOTE_LIMITS.annotationBytes, limit: 'bytes of an annotation' };
    const text = encodeJson(value, { what, ...limits });
    this.#annotations.push({
      id: this.#id(`annotation ${scope} ${key} ${text}`),
      key: key,
      value: text,
      scope,
      actor: this.of.actor,
    });
  }

  /** Only the latest counts. Numbers that are none are told as they are not. */
  progress(done: number, total: number | undefined, message: string | undefined): void {
    if (!Number.isFinite(done)) return;
    this.#progress = {
      done,
      total: total !== undefined && Number.isFinite(total) ? total : null,
      message: message === undefined ? null : cleanText(String(message), NOTE_LIMITS.progressLength),
    };
  }

  /** All of it, to be written; null when there is nothing. */
  notes(): AttemptNotes | null {
    const lines = [...this.#lines];
    if (this.#dropped > 0)
      lines.push({
        id: this.nextId(),
        level: 'warn',
        message: `${this.#dropped} more lines were not kept.`,
      });
    if (lines.length === 0 && this.#annotations.length === 0 && !this.#progress) return null;
    return { annotations: this.#annotations, lines, progress: this.#progress };
  }

  #id(what: string): string {
    if (this.isLive()) return this.nextId();
    const number = (this.#alike.get(what) ?? 0) + 1;
    this.#alike.set(what, number);
    return derivedId(this.of.stageRunId, `${this.of.attempt} ${what}`, number);
  }
}
