import type { NextId } from '../ports/ids.js';
import type { JsonText } from './rows.js';

/** What deciding needs beyond definition and state. */
export interface DecideContext {
  readonly nextId: NextId;
  /** Queue of stages for which neither stage, run nor definition names one (RUN-6). */
  readonly defaultQueue: string;
}

/** The part of a run that entering a node looks at. */
export interface EnteredRun {
  readonly id: string;
  readonly queue: string | null;
  readonly input: JsonText;
  readonly stageRunCount: number;
}
