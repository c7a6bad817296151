import { foldIdentifier } from '../definition/index.js';
import type { GraphPath, ProblemCode } from './graph-problem.js';
import { SKIPPED } from './outcome.js';

/** How a type complains about a config beyond its schema. Paths are from the config. */
export interface ConfigCheck {
  readonly node: string;
  readonly misfit: (message: string, path: GraphPath) => void;
  readonly problem: (code: ProblemCode, path: GraphPath, params: object) => void;
  /** Complains about more turns of a loop than are allowed. */
  readonly turns: (count: number, path: GraphPath) => void;
  /** Complains about a workflow that nobody has. */
  readonly workflow: (id: string, path: GraphPath) => void;
  /** The ids that an expression gives whatever the values, or null. */
  readonly idsIn: (expression: string) => readonly string[] | null;
}

/** Complains about outcomes of one name, or with the name of another outcome of the node. */
export function checkNames(
  list: string,
  items: readonly { readonly outcome: string }[],
  taken: readonly string[],
  { misfit }: ConfigCheck,
): void {
  const names = new Set([...taken, SKIPPED].map(foldIdentifier));
  items.forEach(({ outcome }, at) => {
    if (names.has(foldIdentifier(outcome)))
      misfit(`The outcome "${outcome}" is taken; give it another name`, [list, at, 'outcome']);
    names.add(foldIdentifier(outcome));
  });
}
