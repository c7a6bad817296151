import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock } from '../sql.js';

/**
 * Counts starts of a definition in the present minute: one row, locked for this statement only, so that any number of processes
 * share one count and nobody gets a place twice. Minutes that are over go with the first start of a later one.
 * $1 offset ms, $2 definition id, $3 starts. Answers with the count after them.
 */
export function countStarts({ startRates }: TableNames): Statement {
  const now = clock('$1');
  const minute = `date_trunc('minute', ${now}, 'UTC')`;
  return {
    name: 'count-starts',
    text: `
    WITH over AS (DELETE FROM ${startRates} WHERE definition_id = $2 AND minute < ${minute})
    INSERT INTO ${startRates} AS held (definition_id, minute, starts) VALUES ($2, ${minute}, $3)
        ON CONFLICT (definition_id, minute) DO UPDATE SET starts = held.starts + EXCLUDED.starts
    RETURNING held.starts AS counted, (extract(epoch FROM ${minute} + interval '1 minute' - ${now}) * 1000)::float8 AS "nextInMs"`,
  };
}

/** Which start keys are held by rows that live. $1 offset ms, $2 digests. */
export function heldKeys({ idempotencyKeys }: TableNames): Statement {
  return {
    name: 'held-keys',
    text: `
    SELECT EXISTS (SELECT 1 FROM ${idempotencyKeys} k WHERE k.digest = d.digest AND (k.expires_at IS NULL OR k.expires_at > ${clock('$1')})) AS held
      FROM unnest($2::bytea[]) WITH ORDINALITY AS d (digest, nr) ORDER BY d.nr`,
  };
}
