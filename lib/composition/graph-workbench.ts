import type { DefinitionRegistry } from '../discovery/index.js';
import type { GraphCatalogue, GraphStageType } from '../engine/graph/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import type { GraphWorkbench } from '../services/engine-port.js';

/** What there is in this app that graphs are checked against; read anew at each call, since lazily loaded modules bring more. */
export function graphWorkbench(registry: DefinitionRegistry, options: ResolvedWorkflowOptions): GraphWorkbench {
  const { retry, limits, owners } = options;
  const { maxStageRuns, startsPerMinute } = limits;
  const defaults = { retry: retry.policy, maxAttemptsCap: retry.maxAttemptsCap, maxStageRuns, startsPerMinute };
  const types = (): Record<string, GraphStageType> =>
    Object.fromEntries(
      [...registry.stages].map(([id, { outcomes, ...type }]) => [id, { ...type, ...(outcomes && { outcomes }) }]),
    );
  // A class is known to TypeORM, and so to triggers, by its name.
  const entities = options.triggers.entities.map((entity) => (typeof entity === 'string' ? entity : entity.name));
  const codeIds = (): string[] => [...registry.definitions.keys()];
  return {
    catalogue: (startable, ownerId): GraphCatalogue => ({
      types: types(),
      published: startable === undefined,
      approvers: Object.keys(options.approvals.resolvers),
      ...(startable && { workflows: [...new Set([...codeIds(), ...startable])], entities }),
      lacksOwner: ownerId === null && owners.rowLevelSecurity !== null,
      defaults,
    }),
    codeIds,
    code: (id, version) => registry.peek(id, version)?.compiled,
  };
}
