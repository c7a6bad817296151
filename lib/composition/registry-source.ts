import type { DefinitionRegistry } from '../discovery/index.js';
import { isIdentifier } from '../engine/definition/identifier.js';
import { UnknownWorkflowError } from '../errors/index.js';
import type { DefinitionSource, RunnableStage, RuntimeDefinition } from '../runtime/execution/definition-source.js';
import type { DefinitionLookup } from '../services/engine-port.js';
import type { PublishedGraphs } from './published-graphs.js';

/** The registry, and graphs that were published, as the runtime asks them. */
export function definitionSource(registry: DefinitionRegistry, graphs: PublishedGraphs): DefinitionSource {
  const refresh = async (key: string, ownerId: string | null): Promise<void> => {
    const [scan] = await Promise.allSettled([registry.refresh()]);
    if (registry.byKey(key) || (await graphs.load(key, ownerId))) return;
    // A module that is refused takes nothing from graphs, and is told of where nothing else was meant.
    if (scan.status === 'rejected') throw scan.reason;
  };
  const byKey = (key: string): RuntimeDefinition | undefined => registry.byKey(key) ?? graphs.byKey(key);
  return {
    byKey,
    stageType: (stage) => registry.stageType(stage),
    stageIdOf: (stageClass) => registry.stageIdOf(stageClass),
    refresh,
    mayServe: async (key, ownerId) => {
      await refresh(key, ownerId);
      return byKey(key) !== undefined || (await graphs.isOthers(key, ownerId));
    },
    resolve: (type, request) => registry.resolve<RunnableStage & object>(type, request),
  };
}

/** The same as the services ask it. Workflows in code come first, and cost a graph's start nothing but a look into a map. */
export function definitionLookup(registry: DefinitionRegistry, graphs: PublishedGraphs): DefinitionLookup {
  return {
    find: async (workflow, version, ownerId) => {
      const known = registry.peek(workflow, version);
      if (known) return known;
      try {
        // A module may have been loaded since, and knows what to say of a class that is none of this app's.
        return await registry.lookup(workflow, version);
      } catch (error) {
        // A text that can be no id, such as one with U+0000, would fail the statement, and with it a transaction of the host's.
        if (!(error instanceof UnknownWorkflowError) || !isIdentifier(workflow)) throw error;
        const graph = await graphs.startable(workflow, version, ownerId);
        if (graph) return graph;
        throw error;
      }
    },
    byKey: (key) => (registry.byKey(key) ?? graphs.byKey(key))?.compiled,
    load: async (key, ownerId) => (registry.byKey(key) ?? (await graphs.load(key, ownerId)))?.compiled,
    versions: (id) =>
      [...(registry.definitions.get(id)?.values() ?? [])]
        .map(({ compiled }) => compiled)
        .sort((a, b) => a.version - b.version),
  };
}
