import type { Graph } from './graph-schema.js';

/**
 * What of a draft can be drawn and compared, whatever is wrong with it: the nodes, edges and triggers that can be told apart. What is
 * no object has none.
 */
export function looseGraph(given: unknown): Graph {
  const { nodes, edges, triggers, settings, ...head } = isObject(given) ? given : {};
  return {
    ...head,
    id: isText(head.id) ? head.id : '',
    nodes: list(nodes).filter(({ id, type }) => isText(id) && isText(type)),
    edges: list(edges).filter(
      ({ from, to, outcome }) => isText(from) && isText(to) && (outcome === undefined || isText(outcome)),
    ),
    ...(Array.isArray(triggers) && { triggers: list(triggers).filter(({ id }) => isText(id)) }),
    ...(isObject(settings) && { settings }),
  } as unknown as Graph;
}

type Item = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === 'string';

const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const list = (value: unknown): readonly Item[] => (Array.isArray(value) ? value.filter(isObject) : []);
