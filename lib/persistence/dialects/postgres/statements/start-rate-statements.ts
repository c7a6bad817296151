import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, milliseconds, replaced } from '../sql.js';
import { NIL } from './find-waits.js';

/**
 * Counts starts of a definition in the present minute: one row, locked for this statement only, so that any number of processes
 * share one count and nobody gets a place twice. Minutes that are over go with the first start of a later one.
 *
 * Of one start that has a place ($4) who asks again, or beside another, gets what the first one got, and counts nothing. Only those whose
 * snapshots are of before the first one's commit count too, for nothing. The counter's lock is held until the place stands, so that
 * the first count is the least. What somebody of another owner wrote there was forged.
 * $1 offset ms, $2 definition id, $3 starts, $4 digest or null, $5 owner, $6 ttl ms. Answers with the count after them.
 */
export function countStarts({ startRates, idempotencyKeys }: TableNames): Statement {
  const now = clock('$1');
  const minute = `date_trunc('minute', ${now}, 'UTC')`;
  const gone = `held.expires_at <= ${now} OR held.owner_id IS DISTINCT FROM EXCLUDED.owner_id`;
  return {
    name: 'count-starts',
    text: `
    WITH seen AS MATERIALIZED (
      SELECT result FROM ${idempotencyKeys} WHERE digest = $4::bytea AND owner_id IS NOT DISTINCT FROM $5::text AND expires_at > ${now}),
    over AS (DELETE FROM ${startRates} WHERE definition_id = $2 AND minute < ${minute}),
    counted AS (
      INSERT INTO ${startRates} AS held (definition_id, minute, starts) SELECT $2, ${minute}, $3::int WHERE NOT EXISTS (SELECT 1 FROM seen)
          ON CONFLICT (definition_id, minute) DO UPDATE SET starts = held.starts + EXCLUDED.starts
      RETURNING held.starts),
    place AS (
      INSERT INTO ${idempotencyKeys} AS held (digest, scope, run_id, owner_id, result, created_at, expires_at)
      SELECT $4::bytea, 'place', '${NIL}', $5::text, to_json(starts), ${now}, ${now} + ${milliseconds('$6::float8')} FROM counted WHERE $4::bytea IS NOT NULL
          ON CONFLICT (digest) DO UPDATE SET ${replaced(['result', 'owner_id', 'created_at', 'expires_at'], gone)}
      RETURNING held.result)
    SELECT coalesce((SELECT result FROM seen)::text::int, (SELECT result FROM place)::text::int, (SELECT starts FROM counted)) AS counted,
           (extract(epoch FROM ${minute} + interval '1 minute' - ${now}) * 1000)::float8 AS "nextInMs"`,
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
