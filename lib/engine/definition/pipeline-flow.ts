/** One stage as a definition wrote it: unchecked, since JavaScript and casts get past the types. */
export interface DeclaredStage {
  readonly stage: unknown;
  readonly key: unknown;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface DeclaredNode {
  readonly parallel: boolean;
  /** Undefined = to be chosen: the stage's id, or `parallel-<n>`. */
  readonly key: unknown;
  readonly stages: readonly DeclaredStage[];
}

/** How often any flow that began at one `define` was extended. */
interface Tally {
  calls: number;
}

/**
 * What `define(flow)` is given at run time: remembers the calls, checks nothing. Each call returns a flow of its own, as
 * the types say, so a call whose result is dropped adds no node; the tally tells.
 */
export class PipelineFlow {
  private constructor(
    readonly nodes: readonly DeclaredNode[],
    private readonly tally: Tally,
  ) {}

  static empty(): PipelineFlow {
    return new PipelineFlow([], { calls: 0 });
  }

  pipe(stage: unknown, options?: unknown): PipelineFlow {
    const { key, ...rest } = asRecord(options);
    return this.extend({ parallel: false, key, stages: [{ stage, key, options: rest }] });
  }

  parallel(branches: unknown, options?: unknown): PipelineFlow {
    const { key } = asRecord(options);
    const stages = Object.entries(asRecord(branches)).map(([name, branch]) => declareBranch(name, branch));
    return this.extend({ parallel: true, key, stages });
  }

  /** Calls whose result is not part of this flow: somebody wrote `flow.pipe(A); return flow.pipe(B)`. */
  get dropped(): number {
    return this.tally.calls - this.nodes.length;
  }

  private extend(node: DeclaredNode): PipelineFlow {
    this.tally.calls += 1;
    return new PipelineFlow([...this.nodes, node], this.tally);
  }
}

function declareBranch(key: string, branch: unknown): DeclaredStage {
  // A class, or undefined where an import is circular, is the stage itself; an object says more.
  if (typeof branch !== 'object' || branch === null) return { stage: branch, key, options: {} };
  const { stage, ...options } = branch as Record<string, unknown>;
  return { stage, key, options };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
