import { definitionKey } from '../../engine/definition/compiled-definition.js';
import type { DefinitionRow } from '../../engine/ports/wake-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { definitionRecordKey } from './memory-database.js';
import type { MemorySession } from './session.js';

export interface DriftedDefinition {
  readonly id: string;
  readonly version: number;
  readonly fingerprint: string;
  readonly unfinishedRuns: number;
}

/** Remembers structures and says which other ones of the same id and version still have unfinished runs (DEF-4). */
export function registerDefinitions(
  session: MemorySession,
  definitions: readonly DefinitionRow[],
): DriftedDefinition[] {
  const { db } = session;
  const given = new Set(definitions.map(definitionRecordKey));
  for (const row of definitions) {
    if (db.definitions.get(definitionRecordKey(row)) === undefined) db.definitions.insert({ ...row });
  }
  const drifted: DriftedDefinition[] = [];
  for (const known of db.definitions.all()) {
    if (given.has(definitionRecordKey(known))) continue;
    if (!definitions.some(({ id, version }) => id === known.id && version === known.version)) continue;
    const unfinishedRuns = countUnfinished(session, definitionKey(known));
    if (unfinishedRuns === 0) continue;
    drifted.push({ id: known.id, version: known.version, fingerprint: known.fingerprint, unfinishedRuns });
  }
  return drifted;
}

function countUnfinished({ db }: MemorySession, key: string): number {
  let count = 0;
  for (const run of db.runs.all()) if (run.definitionKey === key && !isTerminalRun(run.status)) count++;
  return count;
}
