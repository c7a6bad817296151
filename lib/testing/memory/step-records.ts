import type { StepKind, StepStatus } from '../../engine/ports/step-store.js';
import type { NewAnnotation, NewLogLine } from '../../engine/state/notes.js';
import type { JsonText } from '../../engine/state/rows.js';

/** A row of the step ledger, and of the waits: one is `waiting` exactly while it is open. */
export interface StepRecord {
  readonly stageRunId: string;
  readonly key: string;
  readonly runId: string;
  readonly ownerId: string | null;
  readonly createdAt: number;
  kind: StepKind;
  status: StepStatus;
  /** Place in the order in which outcomes reach the body; given by the attempt that delivers them. */
  seq: number | null;
  attempt: number;
  result: JsonText | null;
  failure: JsonText | null;
  timedOut: boolean;
  reopened: boolean;
  token: string | null;
  leaseUntil: number | null;
  dueAt: number | null;
  expiresAt: number | null;
  /** Event key, or name of a signal. */
  eventKey: string | null;
  subjectType: string | null;
  subjectId: string | null;
  where: string | null;
  epoch: number;
  /** Events stored before it have been looked up. */
  checked: boolean;
  /** The event or signal that ended it. */
  eventId: string | null;
  childRunId: string | null;
  state: JsonText | null;
  /** When it got its outcome, or was due. */
  firedAt: number | null;
}

/** An event, or a signal to one run. */
export interface EventRecord {
  readonly id: string;
  readonly ownerId: string | null;
  /** Of a signal: the run that it is for. */
  readonly runId: string | null;
  readonly key: string;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly payload: JsonText;
  readonly source: JsonText | null;
  /** Hex of the digest. */
  readonly messageDigest: string | null;
  readonly createdAt: number;
  /** Of an event: its matching has ended. */
  matched: boolean;
  /** Of a signal: a wait got it. */
  taken: boolean;
}

interface Noted {
  readonly runId: string;
  readonly ownerId: string | null;
  readonly stageRunId: string;
  readonly attempt: number;
  readonly createdAt: number;
}

export interface AnnotationRecord extends NewAnnotation, Noted {}

export interface LogLineRecord extends NewLogLine, Noted {}
