import type { EngineEvent, JsonText } from '../state/rows.js';
import type { AttemptNotes } from '../state/notes.js';
import type { JoinedTransaction } from './joined-transaction.js';
import type { FinishedRun, Lease, RecordOptions } from './work-store.js';

/**
 * What a ledger row stands for. `run` and `once` have a body, `transaction` one that commits with its row; the others are
 * waits, but for `lease`: the wait of a replay that met a step whose body still runs elsewhere (STEP-6).
 */
export type StepKind =
  'run' | 'once' | 'transaction' | 'sleep' | 'poll' | 'event' | 'signal' | 'child' | 'completion' | 'lease';

/**
 * `running`: a body holds it, under a lease of its own. `waiting`: an open wait. `ready`: it may be begun, or polled, again.
 * `completed` and `failed` have an outcome. `cancelled`: a wait that nobody awaits any more.
 */
export type StepStatus = 'running' | 'waiting' | 'ready' | 'completed' | 'failed' | 'cancelled';

/** A row of the step ledger. Named by stage run and key: scope, name and occurrence (STEP-2). */
export interface LedgerRow {
  readonly stageRunId: string;
  readonly key: string;
  readonly kind: StepKind;
  readonly status: StepStatus;
  /**
   * Place of the outcome in the order in which outcomes reach the body. Given by the attempt that delivers it, which is the
   * only one to do so: what came from outside (a timer, an event, an earlier holder) has none until it is delivered.
   */
  readonly seq: number | null;
  /** Tries of the body, or polls, so far. */
  readonly attempt: number;
  readonly result: JsonText | null;
  /** A `FailureRecord` as JSON; of `waiting` and `ready` the last try's. */
  readonly failure: JsonText | null;
  /** The wait's time was over before what it waited for came. */
  readonly timedOut: boolean;
  /** A failure that the stage's retry opens again (STEP-7). */
  readonly reopened: boolean;
  /** Claim token of the attempt whose body holds it, or held it last. */
  readonly token: string | null;
  /** Of `running`: milliseconds until the lease ends, on the store's clock; not above 0 = over. */
  readonly leaseInMs: number | null;
  /** Milliseconds until the wait's own limit (`timeout`, `maxWait`); not above 0 = passed. Null = none. */
  readonly expiresInMs: number | null;
  /** Run id of a child. */
  readonly childRunId: string | null;
  /** What an asynchronous stage gave to `ctx.suspend`. */
  readonly state: JsonText | null;
}

/** A wait as it is written when it is awaited. */
export interface OpenWait {
  readonly key: string;
  readonly kind: StepKind;
  /**
   * When it is due by itself: milliseconds from now, or an instant (ISO 8601). Null = only what it waits for ends it.
   * `ifNew`: a row that stands already keeps the instant it has (a sleep that is awaited again is not begun again).
   */
  readonly due: { readonly inMs: number } | { readonly at: string } | null;
  readonly dueIfNew: boolean;
  /** Its own limit in milliseconds from now, set when the row is new; the row is due at the limit at the latest. */
  readonly expiresInMs: number | null;
  /** Event key, or name of a signal. */
  readonly eventKey: string | null;
  readonly subject: SubjectName | null;
  /** CEL on the payload, or null. */
  readonly where: string | null;
  readonly childRunId: string | null;
  readonly state: JsonText | null;
  /** How many outcomes the body had when it last awaited this: of two waits for one signal the later awaited gets it. */
  readonly epoch: number;
}

export interface SubjectName {
  readonly type: string;
  readonly id: string;
}

/** The place of an outcome that came from outside, written with the attempt's next write. */
export interface StepOrder {
  readonly key: string;
  readonly seq: number;
}

export type StepOutcome =
  | { readonly kind: 'completed'; readonly result: JsonText }
  | { readonly kind: 'failed'; readonly failure: JsonText }
  /** A try that failed, another follows: `waiting` until then. */
  | { readonly kind: 'again'; readonly failure: JsonText; readonly delayMs: number };

/** Fenced by the claim token of the attempt: nothing is begun or opened once its stage run or its run moved on. */
export type StepWrite =
  /** A body is to begin. Its row is `running` under a lease of `leaseMs` before it does. */
  | {
      readonly op: 'begin';
      readonly lease: Lease;
      readonly key: string;
      readonly kind: 'run' | 'once';
      readonly leaseMs: number;
      readonly orders: readonly StepOrder[];
    }
  /**
   * A body has ended. Fenced by the row's own token alone, so that a body whose attempt is over still records what it did.
   * `begun: false`: there was no `begin` (a poll, a transaction, a child that could not start): fenced as `begin` is, the row
   * is made here.
   */
  | {
      readonly op: 'finish';
      readonly lease: Lease;
      readonly key: string;
      readonly kind: StepKind;
      readonly begun: boolean;
      readonly outcome: StepOutcome;
      /** Null: the attempt is over; whoever replays it gives it its place. */
      readonly seq: number | null;
      /** SHA-256 of an effect key (STEP-8): the result is kept under it for as long as the run lives. */
      readonly effect: Buffer | null;
      readonly orders: readonly StepOrder[];
    }
  /** Waits that are awaited while something else of the body still runs. */
  | {
      readonly op: 'wait';
      readonly lease: Lease;
      readonly waits: readonly OpenWait[];
      readonly orders: readonly StepOrder[];
    };

/**
 * `written`. `held`: another body of this step has a live lease. `settled`: the row has an outcome already: read it.
 * `not-fenced`: the attempt is over, or (of `finish`) the row is held by another. `busy`: the row is locked; try again.
 */
export type StepVerdict = 'written' | 'held' | 'settled' | 'not-fenced' | 'busy';

/** A stage that has nothing to do but wait. */
export interface SuspendRecord {
  readonly lease: Lease;
  readonly attempt: number;
  /** `touches` of its run as of the claim: with another touch since, its polls are due at once (`SubjectStore.touch`). */
  readonly touches: number;
  /** New waits, and those whose instant changes. */
  readonly waits: readonly OpenWait[];
  /** All keys that the body still awaits: any other open wait of this stage run is cancelled (WAIT-2, STEP-5). */
  readonly keep: readonly string[];
  readonly orders: readonly StepOrder[];
  readonly events: readonly EngineEvent[];
  readonly notes: AttemptNotes | null;
}

export type SuspendVerdict =
  /** `suspended: false`: what it waits for is there already; its job is due again. `dueInMs`: its earliest own instant. */
  | { readonly verdict: 'recorded'; readonly suspended: boolean; readonly dueInMs: number | null }
  | { readonly verdict: 'busy' }
  | { readonly verdict: 'not-fenced' };

export interface StepLease {
  readonly stageRunId: string;
  readonly key: string;
  readonly token: string;
  readonly leaseMs: number;
}

export interface FiredWaits {
  readonly timers: number;
  readonly timeouts: number;
  readonly polls: number;
  /** Tries of steps and waits for leases that came due. */
  readonly retries: number;
  /** Stage runs that go on: jobs became due. */
  readonly resumed: number;
  /** Rows that were dealt with, those included that nobody awaited any more. */
  readonly ended: number;
  /** Milliseconds until the next wait is due, the limits of waits for events included, or null. */
  readonly nextInMs: number | null;
  /** The page was full, or rows of it were locked: there may be more. */
  readonly more: boolean;
}

export interface DeliveredChildren {
  /** Steps that waited. */
  readonly delivered: number;
  /** Children whose parents know now, whatever those did with it. */
  readonly told: number;
  /** The page was full: there may be more. */
  readonly more: boolean;
}

export interface OrphanedRun {
  readonly runId: string;
  readonly parentEnded: FinishedRun['status'];
  /** Its parent was terminated: it is too, without hooks (CANCEL-4). */
  readonly terminated: boolean;
}

/** A wait and the event that ends it. */
export interface EventMatch {
  readonly runId: string;
  readonly stageRunId: string;
  readonly key: string;
  readonly eventId: string;
}

export interface StepStore {
  /** The rows of these stage runs: with a place first, in order; then the others in the order in which they came. */
  readLedger(stageRunIds: readonly string[]): Promise<LedgerRow[]>;

  /** Writes steps of any number of attempts in one statement, one commit. Verdicts stand in the order of `writes`. Never waits for locks. */
  writeSteps(writes: readonly StepWrite[]): Promise<StepVerdict[]>;

  /**
   * Writes one step as part of the host's transaction, which is READ COMMITTED and commits next, or rolls back unless the
   * verdict is `written` (TX-3). Locks run, then stage run, and waits for them: what was not fenced can't be committed, and
   * whoever ends either comes before the fence or after the commit. Unnamed statements.
   */
  writeWithin(write: StepWrite, transaction: JoinedTransaction): Promise<StepVerdict>;

  /** Extends leases of step bodies that run (STEP-6). Those that somebody else holds now are passed over. */
  extendSteps(leases: readonly StepLease[]): Promise<void>;

  /** Results kept under effect keys for this owner, where there are any (hex digest → result). What stands there of another owner's is replaced by the first that is his own. */
  readEffects(digests: readonly Buffer[], ownerId: string | null): Promise<Map<string, JsonText>>;

  /**
   * Stage runs become SUSPENDED: their jobs go, their waits stand (WAIT-1). Under the run's lock, after which marks are looked
   * at: a wait that was ended while the stage ran, a signal that lies there, a child that has ended: then it is due at once.
   */
  suspend(records: readonly SuspendRecord[], options?: RecordOptions): Promise<SuspendVerdict[]>;

  /**
   * Ends waits of a stage run that goes on, and whose answer is there already: a signal that lies there, a child that has ended.
   * Returns how many. Under the run's lock, which is not waited for: `busy`, try again.
   */
  answerWaits(stageRun: Pick<Lease, 'runId' | 'stageRunId'>): Promise<number | 'busy'>;

  /**
   * Ends waits whose time has come: sleeps are over, timeouts have passed, polls and tries may begin; stage runs that were SUSPENDED
   * get a job. Marks only what belongs to a stage that runs. Waits for events are left to `overdueEventWaits`.
   */
  fireDue(limit: number, aheadMs: number): Promise<FiredWaits>;

  /** Tells parents what their children came to, and ends the steps that still wait for exactly those (STEP-9). */
  deliverChildren(limit: number): Promise<DeliveredChildren>;

  /** Open runs whose parents ended and that were waited for: to be cancelled (CANCEL-3). The mark of one whose parent lives goes. */
  findOrphans(limit: number): Promise<OrphanedRun[]>;
}
