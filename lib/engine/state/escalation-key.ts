/** Stands between node and level; ids of nodes and keys of stages never hold it. */
const SEPARATOR = '#';

/** The key of an escalation's stage run: `escalationKey('sign', 1)` is `sign#1`. Levels count from 1, in the order of the node. */
export function escalationKey(node: string, level: number): string {
  return `${node}${SEPARATOR}${level}`;
}

/** Whether a stage run is an escalation, and no visit: it stands beside the visit of its node, with the same `node` and `visit`. */
export function isEscalation({ key }: { readonly key: string }): boolean {
  return key.includes(SEPARATOR);
}

/** Which one of its node, from 1: of `sign#2` it is 2. Null where the key is no escalation's. */
export function escalationLevel(key: string): number | null {
  const at = key.lastIndexOf(SEPARATOR);
  return at < 0 ? null : Number(key.slice(at + 1));
}
