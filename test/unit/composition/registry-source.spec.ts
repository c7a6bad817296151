import { definitionSource } from '../../../lib/composition/registry-source.js';

const KEY = 'flow@1#f1';

/** A registry that refuses what a module brought, beside graphs. */
function sourceWith(graph: object | undefined, { others = false } = {}) {
  const registry = { byKey: () => undefined, refresh: () => Promise.reject(new Error('a faulty workflow')) };
  const graphs = { byKey: () => graph, load: async () => graph, isOthers: async () => others };
  return definitionSource(registry as never, graphs as never);
}

describe('definitions as the runtime asks for them', () => {
  it('DEF-3: a lazily loaded module that is refused keeps no graph from being served', async () => {
    await sourceWith({}).refresh(KEY, 'a');
    expect(await sourceWith({}).mayServe(KEY, 'a')).toBe(true);
  });

  it('DEF-3: where there is no graph either, the refusal is told', async () => {
    await expect(sourceWith(undefined).refresh(KEY, 'a')).rejects.toThrow('a faulty workflow');
  });
});
