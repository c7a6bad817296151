import type { SubjectName } from '../engine/ports/step-store.js';
import type { EngineEventType } from '../engine/state/rows.js';

/** What is told of runs, stages and definitions, by name. */
export type WorkflowEventType = EngineEventType;

/** Of those what is told of runs and their stages. */
export type RunEventType = Extract<
  WorkflowEventType,
  `run:${string}` | `stage:${string}` | `approval:${string}` | `escalation:${string}`
>;

/** What each event carries as `data`. Instants are ISO 8601. */
export interface WorkflowEventData {
  'run:started': EventData;
  'run:completed': EventData;
  'run:failed': EventData & { readonly code: string; readonly message: string; readonly node: string | null };
  'run:cancelled': EventData & { readonly reason: string | null };
  /** By hand, `node` being the stage that had failed; or, with `rerun`, the node that it goes on from. */
  'run:retried': EventData & { readonly node: string; readonly rerun?: true; readonly generation?: number };
  'stage:started': EventData;
  'stage:completed': EventData;
  'stage:suspended': EventData;
  'stage:skipped': EventData;
  'stage:retrying': EventData & { readonly attempt: number; readonly nextAt: string; readonly willRetry: true };
  'stage:failed': EventData & { readonly willRetry: false };
  'definition:published': DefinitionEventData;
  'definition:retired': DefinitionEventData;
  /** A stage of approval is asked: `approvers` are the ids of those who can decide it. */
  'approval:opened': ApprovalEventData & {
    readonly name: string | null;
    readonly approvers: readonly string[];
    readonly expiresAt: string | null;
  };
  /** Somebody decided; `onBehalfOf` whom he decided for, where it was handed to him. */
  'approval:decided': ApprovalEventData & {
    readonly by: string;
    readonly onBehalfOf: string | null;
    readonly answer: 'approved' | 'rejected';
    readonly reason: string | null;
  };
  /** What `approver` was asked is now with `to`; it was with `from`. */
  'approval:delegated': ApprovalEventData & {
    readonly approver: string;
    readonly from: string;
    readonly to: string;
    readonly by: string;
    readonly reason: string | null;
  };
  /** An escalation of this id had `approvers` asked too, beside those who are. */
  'approval:reassigned': ApprovalEventData & {
    readonly approvers: readonly string[];
    readonly escalation: string;
  };
  'approval:withdrawn': ApprovalEventData & {
    readonly by: string;
    readonly answer: 'approved' | 'rejected';
    readonly reason: string | null;
  };
  /** `approvers` have still to answer; `by` had them reminded, null = nobody in particular. */
  'approval:reminded': ApprovalEventData & {
    readonly by: string | null;
    readonly approvers: readonly string[];
    readonly expiresAt: string | null;
  };
  /** The round is over. `by` closed it from outside; null = its approvers, or time, did. */
  'approval:resolved': ApprovalEventData & {
    readonly outcome: 'approved' | 'rejected' | 'expired';
    readonly by: string | null;
    readonly reason: string | null;
  };
  /**
   * A visit has taken long, and what was to happen then has happened. `outcome` and `taken` are those of `take_edge`: whether the
   * run went on by that edge, or the visit had ended by itself in the same moment. `skipped`: its stage found nothing to do.
   */
  'escalation:fired': EscalationEventData & {
    readonly outcome?: string;
    readonly taken?: boolean;
    readonly skipped?: true;
  };
  /** These people are to be told: `to` are their ids. The engine sends nothing itself. */
  'escalation:notified': EscalationEventData & { readonly to: readonly string[]; readonly message: string | null };
  /** It could not be done, and is not tried again. The visit and its run go on. */
  'escalation:failed': EscalationEventData & { readonly code: string; readonly message: string };
}

/** A version of a graph. */
export type DefinitionEventData = EventData & {
  readonly definition: string;
  readonly version: number;
  readonly fingerprint: string;
  readonly note: string | null;
};

/** Which round it is about, and which stage of approval of it, from 0. */
export type ApprovalEventData = EventData & { readonly round: string; readonly stage: number };

/** `escalation` is the id of its stage run, `level` the how-manieth of its node, from 1, `action` its type. */
export type EscalationEventData = EventData & {
  readonly escalation: string;
  readonly level: number;
  readonly action: string;
};

/** Open: a later version may add to it. */
export type EventData = Readonly<Record<string, unknown>>;

/**
 * What `@OnWorkflowEvent` methods are given. Told after commit, at least once, in order per run: `id` is the same each
 * time, so a handler that must not do a thing twice remembers it.
 *
 * @typeParam T one name, or a union of them; narrow on `event.type`. @default all that is told of runs and stages
 */
export type WorkflowEvent<T extends WorkflowEventType = RunEventType> = { [K in T]: WorkflowEventOf<K> }[T];

export interface WorkflowEventOf<T extends WorkflowEventType> {
  readonly id: string;
  readonly type: T;
  /** Null on `definition:*` events: no run stands behind them. */
  readonly run: T extends RunEventType ? RunRef : null;
  /** The stage run it is about; only on `stage:*`, `approval:*` and `escalation:*` events. */
  readonly stage: T extends `stage:${string}` | `approval:${string}` | `escalation:${string}` ? StageRunRef : undefined;
  /** Who it belongs to: the stored id. Of a definition null where all owners share it. */
  readonly owner: string | null;
  /** What the run is about, or null. */
  readonly subject: SubjectName | null;
  /** Who started the run; of a definition who published or retired it. */
  readonly actor: unknown;
  /** On whose behalf it acts: `actor`, or the system actor. */
  readonly runAs: unknown;
  /** When it was written, on the database's clock. */
  readonly at: Date;
  readonly data: WorkflowEventData[T];
}

export interface RunRef {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
}

export interface StageRunRef {
  /** Id of the stage run. */
  readonly runId: string;
  readonly key: string;
  /** The id given to `@Stage`. */
  readonly stage: string;
}
