import type { CompiledGraphNode } from '../graph/index.js';
import { expressionsOf } from './expressions-of.js';

/** What only looks at the run itself: such a node is passed where the run moves, in the transaction that records what came before. */
const INLINE: ReadonlySet<string> = new Set(['condition', 'branch', 'loop', 'parallel', 'end']);

/** What is at hand there. The rest (subject, owner, actor, now) is loaded by a worker, in the owner's context. */
const AT_HAND: ReadonlySet<string> = new Set(['input']);

/** Whether a node is passed without a worker (GRAPH-4): its type is of that kind, and so is all that its expressions speak of. */
export function isInline(node: CompiledGraphNode): boolean {
  return node.builtIn && INLINE.has(node.type) && expressionsOf(node).every(isAtHand);
}

/** Whether its `when` can be answered where the run moves; else a worker answers it, before anything else of the node. */
export function isWhenInline({ when }: CompiledGraphNode): boolean {
  return when === null || isAtHand(when);
}

const isAtHand = ({ variables }: { readonly variables: readonly string[] }): boolean =>
  variables.every((name) => AT_HAND.has(name));
