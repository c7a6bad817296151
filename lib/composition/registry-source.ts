import type { DefinitionRegistry } from '../discovery/index.js';
import type { DefinitionSource, RunnableStage } from '../runtime/execution/definition-source.js';
import type { DefinitionLookup } from '../services/engine-port.js';

/** The registry as the runtime asks it. */
export function definitionSource(registry: DefinitionRegistry): DefinitionSource {
  return {
    byKey: (key) => registry.byKey(key),
    stageType: (stage) => registry.stageType(stage),
    stageIdOf: (stageClass) => registry.stageIdOf(stageClass),
    refresh: () => registry.refresh(),
    resolve: (type, request) => registry.resolve<RunnableStage & object>(type, request),
  };
}

/** The registry as the services ask it. */
export function definitionLookup(registry: DefinitionRegistry): DefinitionLookup {
  return {
    find: (workflow, version) => registry.lookup(workflow, version),
    byKey: (key) => registry.byKey(key)?.compiled,
    versions: (id) =>
      [...(registry.definitions.get(id)?.values() ?? [])]
        .map(({ compiled }) => compiled)
        .sort((a, b) => a.version - b.version),
  };
}
