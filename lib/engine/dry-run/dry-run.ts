/**
 * What a run would do, as far as it can be told without running anything.
 *
 * @publicApi
 */
export interface DryRun {
  /** `open`: the walk was left before its end, since it took more steps than a dry run shows. */
  readonly ends: 'completed' | 'failed' | 'open';
  /** Of a graph: that of its `end`. */
  readonly outcome?: string;
  /** Where it is known. */
  readonly output?: unknown;
  /** In the order in which the run would come to its nodes. */
  readonly path: readonly DryStep[];
  /** What fails, and what in the assumptions was of no use. */
  readonly problems: readonly DryProblem[];
}

/**
 * One visit of a node in a dry run.
 *
 * @publicApi
 */
export interface DryStep {
  readonly node: string;
  readonly type: string;
  /** The how-manieth time that the run would be here, from 1. */
  readonly visit: number;
  /** In one sentence. */
  readonly would: string;
  /** What it would end with, and so which way it goes on. */
  readonly outcome?: string;
  /** What a stage would be given; of what is not known in part, the part that is. */
  readonly given?: unknown;
  /** What cannot be known here, and why. */
  readonly unknown?: readonly string[];
  /** What would happen while it is open, by time. */
  readonly escalations?: readonly string[];
  /** Something before it was assumed: a run may never come here, or find it otherwise. Absent: it was not. */
  readonly assumed?: true;
}

/**
 * What would fail, or is wrong with the graph.
 *
 * @publicApi
 */
export interface DryProblem {
  /** Null: of the run as a whole. */
  readonly node: string | null;
  readonly code: string;
  readonly message: string;
  /** Of a graph that is not valid: where in it. */
  readonly path?: string;
}
