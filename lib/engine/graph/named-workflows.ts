import { looseGraph } from './loose-graph.js';

/** The workflows that a graph would start, by nodes and by escalations; a draft's too. Each once. */
export function namedWorkflows(given: unknown): string[] {
  const named = looseGraph(given).nodes.flatMap(({ type, config, escalations }: Loose) => [
    ...(type === 'start_workflow' ? [fieldOf(config, 'workflow')] : []),
    ...(Array.isArray(escalations) ? escalations.map((one) => fieldOf(fieldOf(one, 'action'), 'workflow')) : []),
  ]);
  return [...new Set(named.filter((id) => typeof id === 'string'))];
}

interface Loose {
  readonly type: string;
  readonly config?: unknown;
  readonly escalations?: unknown;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
