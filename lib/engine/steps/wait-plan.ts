import type { LedgerRow, OpenWait, StepKind, SubjectName } from '../ports/step-store.js';
import type { Replay } from './replay.js';
import type { AnyCall, StepPlan } from './step-call.js';

export interface WaitPlanGiven<T> {
  readonly key: string;
  readonly name: string;
  readonly kind: 'sleep' | 'event' | 'signal';
  readonly due: OpenWait['due'];
  readonly expiresInMs: number | null;
  readonly eventKey: string | null;
  readonly subject: SubjectName | null;
  readonly where: string | null;
  readonly outcome: (row: LedgerRow) => T;
}

/** A wait that begins nothing: sleeps, events, signals. What ends it comes from outside. */
export class WaitPlan<T> implements StepPlan<T> {
  readonly key: string;
  readonly name: string;
  readonly kind: StepKind;

  constructor(
    private readonly replay: Replay,
    private readonly given: WaitPlanGiven<T>,
  ) {
    this.key = given.key;
    this.name = given.name;
    this.kind = given.kind;
  }

  begin(call: AnyCall): void {
    this.replay.wait(call);
  }

  wait(): OpenWait {
    const { key, kind, due, expiresInMs, eventKey, subject, where } = this.given;
    return { ...noWait(key, kind), due, dueIfNew: true, expiresInMs, eventKey, subject, where };
  }

  outcome(row: LedgerRow): T {
    return this.given.outcome(row);
  }
}

/** A wait for nothing in particular, to be filled in. */
export function noWait(key: string, kind: StepKind): OpenWait {
  return {
    key,
    kind,
    due: null,
    dueIfNew: false,
    expiresInMs: null,
    eventKey: null,
    subject: null,
    where: null,
    childRunId: null,
    state: null,
    epoch: 0,
  };
}
