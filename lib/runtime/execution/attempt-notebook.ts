import { cleanText, derivedId, encodeJson } from '../../engine/codec/index.js';
import type { AttemptNotes, NewAnnotation, NewLogLine, StageProgress } from '../../engine/state/notes.js';
import type { JsonText } from '../../engine/state/rows.js';
import { InvalidStepError } from '../../errors/index.js';

/** What one attempt may note down. More lines are counted, not kept; more annotations are refused. */
export const NOTE_LIMITS = {
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
 * A body that is replayed after a wait notes the same things again. Their ids are made of stage run, attempt and place, so
 * what an earlier pass of the same attempt has written stands once.
 */
export class AttemptNotebook {
  readonly #annotations: NewAnnotation[] = [];
  readonly #lines: NewLogLine[] = [];
  #dropped = 0;
  #progress: StageProgress | null = null;

  constructor(
    private readonly stageRunId: string,
    private readonly attempt: number,
    private readonly actor: JsonText | null,
  ) {}

  line(level: NewLogLine['level'], message: string): void {
    if (this.#lines.length >= NOTE_LIMITS.lines) this.#dropped++;
    else
      this.#lines.push({
        id: this.#id('line', this.#lines.length),
        level,
        message: cleanText(message, NOTE_LIMITS.lineLength),
      });
  }

  /** @throws InvalidStepError, InvalidOutputError */
  annotate(key: string, value: unknown, scope: NewAnnotation['scope']): void {
    const what = `ctx.annotate(${JSON.stringify(key)})`;
    const problems = [
      {
        holds: typeof key === 'string' && key.trim() !== '' && key.length <= NOTE_LIMITS.keyLength,
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
      id: this.#id('annotation', this.#annotations.length),
      key: cleanText(key, NOTE_LIMITS.keyLength),
      value: text,
      scope,
      actor: this.actor,
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
        id: this.#id('line', NOTE_LIMITS.lines),
        level: 'warn',
        message: `${this.#dropped} more lines were not kept.`,
      });
    if (lines.length === 0 && this.#annotations.length === 0 && !this.#progress) return null;
    return { annotations: this.#annotations, lines, progress: this.#progress };
  }

  #id(kind: string, place: number): string {
    return derivedId(this.stageRunId, kind, (this.attempt & 0x3fff) * 0x10000 + place);
  }
}
