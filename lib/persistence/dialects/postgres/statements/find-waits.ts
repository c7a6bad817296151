import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { EVENT_COLUMNS, notHad, OPEN_EVENT_WAIT, WAIT_COLUMNS } from './event-waits.js';

/** Waits and events of no owner match each other only; a text each, so that each uses its index. */
export type EventOwner = 'owned' | 'ownerless';
export const eventOwner = (ownerId: string | null): EventOwner => (ownerId === null ? 'ownerless' : 'owned');

const ownedBy = (owner: EventOwner, column: string, parameter: string): string =>
  owner === 'owned' ? `${column} = ${parameter}::text` : `(${column} IS NULL AND ${parameter}::text IS NULL)`;

/** Before all ids. */
export const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * Waits that could take an event: those for its subject, and those that name none. Two walks along steps_event, each from where
 * the page before ended, so that an event costs what it matches, however many wait for its key with another subject.
 * By the order of the first, subject included, no other index can serve it: with statistics, one of all that waits would be taken.
 * $1 offset ms, $2 event id, $3 event key, $4 owner, $5 subject type, $6 subject id, $7 to $9 after (run, stage run, key), $10 limit.
 */
export function findWaits(t: TableNames, owner: EventOwner): Statement {
  const place = 's.run_id, s.stage_run_id, s.key';
  const part = (subject: string, order: string): string => `
      (SELECT ${WAIT_COLUMNS} FROM ${t.steps} s
        WHERE ${OPEN_EVENT_WAIT} AND s.event_key = $3::text AND ${ownedBy(owner, 's.owner_id', '$4')} AND ${subject}
          AND (${place}) > ($7::uuid, $8::uuid, $9::text)
          AND (s.expires_at IS NULL OR s.expires_at > (SELECT created_at FROM ${t.events} WHERE id = $2::uuid)) AND ${notHad(t, '$2::uuid', 's.run_id', 's')}
        ORDER BY ${order} LIMIT $10)`;
  return {
    name: `find-waits-${owner}`,
    text: `
    SELECT * FROM (${part('s.subject_id IS NULL', `s.subject_id, ${place}`)}
       UNION ALL ${part('s.subject_id = $6::text AND s.subject_type = $5::text', place)}) s
     ORDER BY ${place} LIMIT $10`,
  };
}

/**
 * Events that could end a wait that is open, oldest first. Through events_subject where it names a subject, else events_key.
 * $1 stage run id, $2 step key, $3 event key, $4 owner, $5 subject type, $6 subject id, $7 after id, $8 limit.
 */
export function findEvents(t: TableNames, owner: EventOwner, withSubject: boolean): Statement {
  const subject = withSubject
    ? 'e.subject_id = $6::text AND e.subject_type = $5::text'
    : '($5::text IS NULL OR true) AND ($6::text IS NULL OR true)';
  return {
    name: `find-events-${owner}${withSubject ? '-subject' : ''}`,
    text: `
    SELECT ${EVENT_COLUMNS}
      FROM (SELECT s.run_id, s.owner_id, s.expires_at FROM ${t.steps} s WHERE s.stage_run_id = $1::uuid AND s.key = $2::text AND ${OPEN_EVENT_WAIT}) w
     CROSS JOIN ${t.events} e
     WHERE e.run_id IS NULL AND e.key = $3::text AND ${ownedBy(owner, 'e.owner_id', '$4')} AND ${subject} AND e.id > $7::uuid
       AND (w.expires_at IS NULL OR e.created_at < w.expires_at) AND ${notHad(t, 'e.id', 'w.run_id', 'w')}
     ORDER BY e.id LIMIT $8`,
  };
}

/** Everything of a statement by what it is about, made once. */
export const byOwner = (make: (owner: EventOwner) => Statement): Record<EventOwner, Statement> => ({
  owned: make('owned'),
  ownerless: make('ownerless'),
});
