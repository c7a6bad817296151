import type { JsonText } from '../state/rows.js';
import type { Cursor, StoredEvent } from './event-store.js';
import type { OwnerScope } from './scope.js';

export type TriggerKind = 'schedule' | 'webhook' | 'event';

/** A trigger of a version, as publishing puts it in force. */
export interface NewTrigger {
  /** Of its row, where there is none yet; a webhook's is its public address. */
  readonly id: string;
  /** Within its graph. */
  readonly triggerId: string;
  readonly type: TriggerKind;
  /** As the graph says it. */
  readonly spec: JsonText;
  /** Of what the place in time depends on: a schedule whose fingerprint is the same goes on where it was. */
  readonly fingerprint: string;
  /** What it listens to; null unless it is for events. */
  readonly eventKey: string | null;
}

/** The triggers of a definition that are in force from now on, all of them. */
export interface TriggersInForce {
  /** Null: shared by all owners. */
  readonly ownerId: string | null;
  readonly definitionId: string;
  /** Runs start on this one. */
  readonly definitionVersion: number;
  readonly triggers: readonly NewTrigger[];
}

/** What became of the last time that a trigger was to start a run. */
export type TriggerOutcome =
  /** A run was started, or found started. */
  | 'started'
  /** The rate of starts had no room: the run is there, and FAILED. */
  | 'refused'
  /** The run before was still open. */
  | 'overlap'
  /** Nobody was there in time, and its policy lets that go. */
  | 'missed'
  /** The event comes from a run that this trigger led to, or through too many of them. */
  | 'chain'
  /** It could not be started; `lastError` says why. */
  | 'failed';

/** A trigger of a definition. Instants are ISO 8601, of the database's clock. */
export interface TriggerRow extends Omit<NewTrigger, 'fingerprint'> {
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly definitionVersion: number;
  readonly status: 'active' | 'retired';
  /** Of a schedule: up to here everything is done. */
  readonly lastAt: string | null;
  /** Of a schedule: when it is due next; null where it never is. */
  readonly nextAt: string | null;
  readonly lastRunId: string | null;
  readonly lastOutcome: TriggerOutcome | null;
  readonly lastError: string | null;
  /** Runs that it started. */
  readonly started: number;
  /** Times that it started none. */
  readonly passedOver: number;
}

/** A schedule that this process has a lease on. */
export interface ClaimedSchedule {
  readonly id: string;
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly definitionVersion: number;
  readonly triggerId: string;
  readonly spec: JsonText;
  /** Fences the move: whoever claims it later, or publishes it anew, has another. */
  readonly version: number;
  /** Milliseconds since 1970: up to here everything is done. */
  readonly cursor: number;
  /** Milliseconds since 1970: what counts as now. */
  readonly asOf: number;
  /** The run that it started last has not ended. */
  readonly lastRunOpen: boolean;
}

/** What a trigger did, as it is noted down. */
export interface TriggerNote {
  readonly runId: string | null;
  readonly outcome: TriggerOutcome | null;
  readonly error: string | null;
  readonly started: number;
  readonly passedOver: number;
}

export interface ScheduleMove extends TriggerNote {
  readonly id: string;
  readonly version: number;
  readonly cursor: number;
  /** Null: there is no later instant. */
  readonly next: number | null;
}

/** A trigger that an event may be for, or a webhook that was called. */
export interface FoundTrigger {
  readonly id: string;
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly definitionVersion: number;
  readonly triggerId: string;
  readonly spec: JsonText;
}

/** A run, or one of its parents. */
export interface RunAncestor {
  readonly definitionId: string;
  /** See `NewRun.origin`. */
  readonly origin: JsonText | null;
}

export interface TriggerStore {
  /**
   * Puts the triggers of a version in force, and retires those of the definition that are not among them. One that was in force
   * keeps its id, and what its fingerprint says is the same its place in time; a new one begins now, by the store's clock, so that
   * nothing of the past is ever due. The same call again changes nothing.
   */
  putTriggers(inForce: TriggersInForce): Promise<void>;

  /** Of one definition, or all, by definition and trigger id; within an owner his own, and those of shared definitions. */
  listTriggers(
    filter: { readonly definitionId?: string; readonly limit: number },
    scope: OwnerScope,
  ): Promise<TriggerRow[]>;

  /**
   * Schedules that are due, longest due first, each leased to the caller for `leaseMs` of the store's clock. Never waits: what others
   * hold comes later. `aheadMs` moves what counts as due, never the lease.
   */
  claimSchedules(limit: number, aheadMs: number, leaseMs: number): Promise<ClaimedSchedule[]>;

  /**
   * Moves schedules on after everything up to their cursor has been started, and frees them. Fenced by the version: of one that
   * was claimed by somebody else meanwhile, or published anew, nothing is written, and it comes again. Returns how many moved.
   */
  moveSchedules(moves: readonly ScheduleMove[]): Promise<number>;

  /**
   * Triggers in force that listen to the key of an event, in pages: those of its owner, and those of graphs that all owners share, but
   * for those that the owner has one of his own of.
   */
  findEventTriggers(
    event: Pick<StoredEvent, 'key' | 'ownerId'>,
    after: Cursor,
    limit: number,
  ): Promise<{ readonly triggers: readonly FoundTrigger[]; readonly next: Cursor }>;

  /** A webhook in force, by its address, whoever it belongs to. */
  findHook(id: string): Promise<FoundTrigger | undefined>;

  /** Notes down what a trigger other than a schedule did. Of one that is gone nothing. */
  noteTrigger(id: string, note: TriggerNote): Promise<void>;

  /** A run and those that started it, itself first; none where it is not this owner's. */
  readAncestry(runId: string, ownerId: string | null): Promise<RunAncestor[]>;

  /** Milliseconds until the next schedule is due that is not leased, below 0 where one is; null where there is none. */
  nextScheduleIn(aheadMs: number): Promise<number | null>;
}
