import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { OPEN_RUN } from '../sql.js';

interface DefinitionColumns {
  id: string;
  version: number;
  fingerprint: string;
  structure: string;
}
export const definitionRows = new RowSet<DefinitionColumns>({
  id: 'text',
  version: 'int',
  fingerprint: 'text',
  structure: 'json',
});

/** Remembers the structures a build serves. Several fingerprints of one version may be known: drift is about unfinished runs. */
export function saveDefinitions(t: TableNames): Statement {
  return {
    name: 'save-definitions',
    text: `
    INSERT INTO ${t.definitions} (id, version, fingerprint, structure)
    SELECT id, version, fingerprint, structure FROM ${definitionRows.source('d', 1)} ORDER BY id, version, fingerprint ON CONFLICT DO NOTHING RETURNING id`,
  };
}

export interface DriftRow {
  id: string;
  version: number;
  fingerprint: string;
  unfinished_runs: number;
}

/**
 * Other structures of the same versions that unfinished runs were created with (DEF-4). Reads unfinished runs only
 * (runs_open), and only where another structure is known at all.
 */
export function findDrift(t: TableNames): Statement {
  return {
    name: 'find-drift',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${definitionRows.source('d', 1)}),
    other AS MATERIALIZED (
      SELECT k.id, k.version, k.fingerprint, k.id || '@' || k.version || '#' || k.fingerprint AS definition_key
        FROM ${t.definitions} k JOIN d ON d.id = k.id AND d.version = k.version AND d.fingerprint <> k.fingerprint)
    SELECT other.id, other.version, other.fingerprint, count(*)::int AS unfinished_runs
      FROM ${t.runs} r JOIN other ON other.definition_key = r.definition_key
     WHERE r.status IN ${OPEN_RUN} GROUP BY other.id, other.version, other.fingerprint`,
  };
}
