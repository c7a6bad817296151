import type { ServedDefinition } from '../discovery/index.js';
import type { DefinitionRow, WorkflowStore } from '../engine/ports/index.js';
import { DefinitionDriftError } from '../errors/index.js';

export interface DriftCheckParts {
  readonly store: Pick<WorkflowStore, 'registerDefinitions'>;
  readonly onDrift: 'refuse' | 'warn';
  readonly warn: (message: string) => void;
}

/**
 * Remembers the structures that this build serves, and refuses one that unfinished runs were created with in another
 * form under the same id and version (DEF-4): they would go on in a structure that they never began.
 *
 * @throws DefinitionDriftError, unless `onDrift` is 'warn'
 */
export async function checkDrift(
  definitions: readonly ServedDefinition[],
  { store, onDrift, warn }: DriftCheckParts,
): Promise<void> {
  if (definitions.length === 0) return;
  const rows = definitions.map<DefinitionRow>(({ compiled: { id, version, fingerprint }, structure }) => ({
    id,
    version,
    fingerprint,
    structure,
  }));
  const drifted = await store.registerDefinitions(rows);
  for (const { id, version, unfinishedRuns } of drifted) {
    if (unfinishedRuns === 0) continue;
    const error = new DefinitionDriftError({ workflow: id, version, runs: unfinishedRuns });
    if (onDrift === 'refuse') throw error;
    warn(error.message);
  }
}
