import { decodeJson } from '../../engine/codec/index.js';
import type { RunAncestor } from '../../engine/ports/index.js';

/** What led to an event: definitions, and how many triggers. */
export interface EventChain {
  readonly definitions: readonly string[];
  readonly depth: number;
}

export const NO_CHAIN: EventChain = { definitions: [], depth: 0 };

/** The chain of an event that a run told of: the run and its parents, and what started each of them. */
export function chainOf(ancestry: readonly RunAncestor[]): EventChain {
  const definitions = new Set<string>();
  let depth = 0;
  for (const { definitionId, origin } of ancestry) {
    definitions.add(definitionId);
    if (origin === null) continue;
    const { chain = [], depth: triggers = 0 } = decodeJson(origin, 'The origin of a run') as Partial<{
      chain: readonly string[];
      depth: number;
    }>;
    for (const each of chain) definitions.add(each);
    depth = Math.max(depth, triggers);
  }
  return { definitions: [...definitions], depth };
}
