import type { JsonText } from './rows.js';

/** A fact about a run or a stage (ANN-1). */
export interface NewAnnotation {
  readonly id: string;
  readonly key: string;
  readonly value: JsonText;
  readonly scope: 'run' | 'stage';
  readonly actor: JsonText | null;
}

/** A line that a body wrote (OBS-3). */
export interface NewLogLine {
  readonly id: string;
  readonly level: 'log' | 'warn' | 'error';
  readonly message: string;
}

export interface StageProgress {
  readonly done: number;
  readonly total: number | null;
  readonly message: string | null;
}

/** What a body noted down, written with its outcome: all of it or nothing. */
export interface AttemptNotes {
  readonly annotations: readonly NewAnnotation[];
  readonly lines: readonly NewLogLine[];
  /** The last one. */
  readonly progress: StageProgress | null;
}
