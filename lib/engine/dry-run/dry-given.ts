import type { JsonText } from '../state/rows.js';
import type { TurnLimits } from '../walk/index.js';

/** What a dry run begins with. */
export interface DryGiven {
  /** As it would be stored. */
  readonly input: JsonText;
  readonly world: DryWorld;
  /** What stages and others would give, by node. */
  readonly outputs: ReadonlyMap<string, unknown>;
  /** How they would end, by node, where the graph alone does not say. */
  readonly outcomes: ReadonlyMap<string, string>;
  readonly limits: TurnLimits & {
    /** More visits than this are not shown. */
    readonly maxSteps: number;
  };
}

/** What lies outside of the run, as it is now. */
export interface DryWorld {
  readonly subjectName: { readonly type: string; readonly id: string } | null;
  /** As expressions see it; null where there is none. */
  readonly subject: unknown;
  /** Why the subject could not be looked at: what a worker is needed for would fail with it. */
  readonly refused: DryFailure | null;
  /** Why nobody can look at it; null: somebody can, or there is none. */
  readonly unreadable: string | null;
  readonly owner: unknown;
  readonly actor: unknown;
  readonly now: Date;
  /** Who would be taken for the one who asks for approvals; null = nobody. */
  readonly requester: string | null;
}

export interface DryFailure {
  readonly code: string;
  readonly message: string;
}

/** Answers what only the app knows. Reads, and changes nothing. */
export interface DryHost {
  stage(type: string): DryStage | undefined;
  /** The approvers that a resolver gives; null where it can't be asked, with why. */
  approvers(name: string, node: string): Promise<{ readonly given: unknown } | { readonly why: string }>;
}

/** What a dry run must know of a `@Stage`. */
export interface DryStage {
  /** What is asked about before it; null = nothing that has a name. */
  readonly ability: string | null;
  /** What it may end with; null = `done`. */
  readonly outcomes: readonly string[] | null;
  /** What its body would see of this input, by its schema. */
  accept(input: unknown, key: string): Promise<{ readonly value: unknown } | { readonly failure: DryFailure }>;
}
