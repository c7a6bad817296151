/** What a node ends with where its type says nothing else. */
export const DONE = 'done';

/** What a node that did not run ends with: its `when` did not hold, or its stage skipped itself. */
export const SKIPPED = 'skipped';

/** One of the ways that a node may end; each leads on by its own edge. */
export interface Outcome {
  readonly name: string;
  /** Without an edge for it the graph is refused. */
  readonly required: boolean;
  /** What a skipped node goes on by, where it has no edge for `skipped`. */
  readonly main: boolean;
  /** Where a body begins that comes back to the node: a turn of a loop, a branch of a parallel node. */
  readonly body: boolean;
}

/** @param of what is not as usual: required, and neither main nor the beginning of a body */
export function outcome(name: string, of: Partial<Omit<Outcome, 'name'>> = {}): Outcome {
  return { name, required: true, main: false, body: false, ...of };
}
