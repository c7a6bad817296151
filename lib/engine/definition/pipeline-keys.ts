import type { Complaints } from './complaints.js';
import { show } from './common-options.js';
import { foldIdentifier, IDENTIFIER_RULE, isIdentifier } from './identifier.js';
import type { DeclaredNode } from './pipeline-flow.js';

export interface KeyedNode {
  readonly key: string;
  /** In the order of the node's stages. */
  readonly stageKeys: readonly string[];
}

/**
 * Gives every node and stage its key. Nodes and stages share one space of names, because `rerunFrom` takes either; a
 * single node and its stage are the same place and have the same key.
 *
 * @param stageIds ids by node and stage, undefined where the stage is unknown
 */
export function assignKeys(
  nodes: readonly DeclaredNode[],
  stageIds: readonly (readonly (string | undefined)[])[],
  place: string,
  complaints: Complaints,
): KeyedNode[] {
  const taken = new Map<string, string>();
  const claim = (key: string, where: string, todo: string): void => {
    const other = taken.get(foldIdentifier(key));
    if (other !== undefined) {
      complaints.add(
        place,
        `${where} and ${other} have the same key.`,
        `Keys differ by more than case and blanks. ${todo}`,
      );
    } else taken.set(foldIdentifier(key), where);
  };

  const stageKeys = nodes.map((node, at) => node.stages.map(({ key }, branch) => key ?? stageIds[at]?.[branch]));
  nodes.forEach((node, at) => {
    for (const key of stageKeys[at] ?? []) {
      if (key === undefined) continue;
      const where = node.parallel ? `branch ${show(key)} of node ${at + 1}` : `node ${at + 1} ${show(key)}`;
      if (isKey(key, where, place, complaints)) claim(key, where, `Give one of them another \`key\`.`);
    }
  });
  nodes.forEach((node, at) => {
    if (!node.parallel || node.key === undefined) return;
    const where = `node ${at + 1} ${show(node.key)}`;
    if (isKey(node.key, where, place, complaints)) claim(node.key, where, `Give one of them another \`key\`.`);
  });

  let groups = 0;
  return nodes.map((node, at) => {
    const keys = (stageKeys[at] ?? []).map((key) => String(key));
    if (!node.parallel) return { key: keys[0] ?? '', stageKeys: keys };
    if (node.key !== undefined) return { key: String(node.key), stageKeys: keys };
    // Chosen last, and past what is taken: a key of the author's own never collides with one of ours.
    do groups += 1;
    while (taken.has(`parallel-${groups}`));
    return { key: `parallel-${groups}`, stageKeys: keys };
  });
}

function isKey(key: unknown, where: string, place: string, complaints: Complaints): key is string {
  if (isIdentifier(key)) return true;
  complaints.add(place, `${where} has a key that can't be used.`, `Use ${IDENTIFIER_RULE}.`);
  // Still compared with the others: " Review" and "review" are told together.
  return typeof key === 'string';
}
