import type { NewEvent } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock } from '../sql.js';

/**
 * Keeps an event; nothing else. Matched inside the sender's transaction it would miss the waits that are written beside it, and
 * they would miss it (protocols, section 6).
 *
 * A message that came before aborts nothing. Nor does the same row, of a call whose answer was lost: it was stored. $1 offset ms.
 */
export function storeEvent(t: TableNames): Statement {
  return {
    name: 'store-event',
    text: `
    WITH e AS (
      INSERT INTO ${t.events} (id, owner_id, key, subject_type, subject_id, payload, message_digest, source, created_at)
      VALUES ($2::uuid, $3::text, $4::text, $5::text, $6::text, $7::json, $8::bytea, $9::json, ${clock('$1')})
          ON CONFLICT DO NOTHING RETURNING id)
    SELECT EXISTS (SELECT 1 FROM e) OR EXISTS (SELECT 1 FROM ${t.events} WHERE id = $2::uuid) AS stored`,
  };
}

export const eventValues = ({ id, ownerId, key, subject, payload, messageDigest, source }: NewEvent): unknown[] => [
  id,
  ownerId,
  key,
  subject?.type ?? null,
  subject?.id ?? null,
  payload,
  messageDigest,
  source ?? null,
];
