import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { sameOwner } from '../sql.js';

/**
 * CTE that removes rows of the ledger which somebody forged: of another owner than the stage run that they name. They stand in the way
 * of the rows that belong there, by their key.
 *
 * It reads `had` (stage_run_id, key, forged), which has locked them.
 */
export const removeForged = (t: TableNames): string => `
    forged AS (
      DELETE FROM ${t.steps} s USING had x WHERE x.forged AND s.stage_run_id = x.stage_run_id AND s.key = x.key RETURNING 1)`;

/** Always true; whoever asks it comes after the removal, so that an INSERT into the same key meets no row any more. */
export const FORGED_ARE_GONE = '(SELECT count(*) FROM forged) >= 0';

/** The same of one stage run, for a write in a session that does not see them. $1 stage run id. */
export function removeForgedSteps(t: TableNames): Statement {
  return {
    name: 'remove-forged-steps',
    text: `DELETE FROM ${t.steps} s USING ${t.stageRuns} g WHERE g.id = $1::uuid AND s.stage_run_id = g.id AND NOT (${sameOwner('s', 'g')}) RETURNING s.key`,
  };
}
