import type { RunRow } from '../../engine/ports/index.js';
import type { DefinitionLookup } from '../engine-port.js';

type ByKey = DefinitionLookup['byKey'];

/** What a run is pinned to is not at hand: under its lock is no time to read it. */
class UnmetDefinition extends Error {
  override readonly name = 'UnmetDefinition';
}

/**
 * Changes a run whose definition may be a graph that this process has not met yet: what asks for it is given up before anything is
 * written, and done anew once the graph was read. Runs whose definition is at hand cost nothing more.
 *
 * @param change ends with what `byKey` throws
 */
export async function withDefinition<T>(
  definitions: Pick<DefinitionLookup, 'byKey' | 'load'>,
  findRun: () => Promise<RunRow | undefined>,
  change: (byKey: ByKey) => Promise<T>,
): Promise<T> {
  try {
    return await change((key) => {
      const known = definitions.byKey(key);
      if (!known) throw new UnmetDefinition();
      return known;
    });
  } catch (error) {
    if (!(error instanceof UnmetDefinition)) throw error;
  }
  const row = await findRun();
  const loaded = row && (await definitions.load(row.definitionKey, row.ownerId));
  return change((key) => definitions.byKey(key) ?? (row?.definitionKey === key ? loaded : undefined));
}
