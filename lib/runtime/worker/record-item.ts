import type { FinishedRun, JoinedRecord, LinearRecord, SuspendRecord } from '../../engine/ports/index.js';
import type { Attempt } from '../execution/attempt.js';

/** What became of an outcome that was handed to the recorder. */
export type RecordResult =
  | {
      readonly kind: 'recorded';
      readonly handedOff: boolean;
      readonly finished: FinishedRun | null;
      /** Of a stage that waits. */
      readonly wait?: RecordedWait;
    }
  /** The run was ended by somebody else first: the outcome was dropped. */
  | { readonly kind: 'cancelled' }
  /** Another worker holds the stage run, or it moved on: the outcome was dropped. */
  | { readonly kind: 'lost' }
  /** The process ends, or the store refuses the outcome in every form: its lease will tell. */
  | { readonly kind: 'given-up' };

/** `suspended: false`: what it waits for is there already, its job is due again. */
export interface RecordedWait {
  readonly suspended: boolean;
  /** Milliseconds until it is due by itself, or null. */
  readonly dueInMs: number | null;
}

/** An outcome on its way into the store. */
export class RecordItem {
  /** How often the store refused it for no reason that passes. */
  refusals = 0;
  /** Its outcome has been replaced by a failure that says it could not be stored. */
  replaced = false;
  readonly result: Promise<RecordResult>;
  resolve!: (result: RecordResult) => void;

  constructor(
    /** Null where no attempt of a known stage stands behind it: a job handed back unbegun. */
    readonly attempt: Attempt | null,
    public entry: RecordEntry,
  ) {
    this.result = new Promise((resolve) => (this.resolve = resolve));
  }

  get runId(): string {
    return this.entry.record.lease.runId;
  }
}

/** Linear: what follows is known. Joined: it depends on rows that are read under the run's lock. Suspend: it waits. */
export type RecordEntry =
  | { readonly lane: 'linear'; readonly record: LinearRecord }
  | { readonly lane: 'joined'; readonly record: JoinedRecord }
  | { readonly lane: 'suspend'; readonly record: SuspendRecord };
