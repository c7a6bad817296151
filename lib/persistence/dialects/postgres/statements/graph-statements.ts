import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, isoText, slotOf } from '../sql.js';
import type { ScopeKind } from './read-statements.js';

const ROW = `
  g.id, g.owner_id AS "ownerId", g.definition_id AS "definitionId", g.status, g.version, g.fingerprint, g.note, g.actor::text AS actor,
  ${isoText('g.created_at')} AS "createdAt", ${isoText('g.saved_at')} AS "savedAt", ${isoText('g.published_at')} AS "publishedAt",
  ${isoText('g.retired_at')} AS "retiredAt"`;

/** As the unique indexes say it. */
const OWNER = `coalesce(g.owner_id, '')`;

const ofName = (definition: string, owner: string): string =>
  `g.definition_id = ${definition}::text AND ${OWNER} = coalesce(${owner}::text, '')`;

/** Until the end of the transaction, also where there is no row to lock yet. $1 a text that stands for the graph. */
export function lockGraph(t: TableNames): Statement {
  const place = t.graphs.replaceAll("'", "''");
  return {
    name: 'lock-graph',
    text: `SELECT pg_advisory_xact_lock(hashtextextended('${place} ' || $1::text, 0))`,
  };
}

/** After the lock, in a snapshot that sees who had it before. $1 definition, $2 owner. */
export function readGraphHead(t: TableNames): Statement {
  return {
    name: 'read-graph-head',
    text: `SELECT g.id, g.version, g.status, g.fingerprint FROM ${t.graphs} g WHERE ${ofName('$1', '$2')} ORDER BY g.version NULLS FIRST`,
  };
}

/** $1 offset ms, $2 id, $3 owner, $4 definition, $5 source, $6 note, $7 actor. */
export function saveDraft(t: TableNames): Statement {
  return {
    name: 'save-draft',
    text: `
    INSERT INTO ${t.graphs} AS g (id, owner_id, definition_id, status, source, note, actor, created_at, saved_at)
    VALUES ($2::uuid, $3::text, $4::text, 'draft', $5::json, $6::text, $7::json, ${clock('$1')}, ${clock('$1')})
        ON CONFLICT (definition_id, coalesce(owner_id, '')) WHERE version IS NULL
        DO UPDATE SET id = EXCLUDED.id, source = EXCLUDED.source, note = EXCLUDED.note, actor = EXCLUDED.actor, saved_at = EXCLUDED.saved_at
    RETURNING ${ROW}`,
  };
}

/**
 * A version, in the place of its draft where it comes from one. $1 offset ms, $2 id, $3 owner, $4 definition, $5 source, $6 note,
 * $7 actor, $8 version, $9 fingerprint, $10 draft or null.
 */
export function publishGraph(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'publish-graph',
    text: `
    WITH gone AS (DELETE FROM ${t.graphs} WHERE id = $10::uuid AND version IS NULL RETURNING created_at)
    INSERT INTO ${t.graphs} AS g (id, owner_id, definition_id, status, source, note, actor, version, fingerprint, created_at, saved_at, published_at)
    SELECT $2::uuid, $3::text, $4::text, 'published', $5::json, $6::text, $7::json, $8::int, $9::text, coalesce((SELECT created_at FROM gone), ${now}), ${now}, ${now}
    RETURNING ${ROW}`,
  };
}

/** The one thing that may still happen to a version. $1 offset ms, $2 definition, $3 owner, $4 versions. */
export function retireGraphs(t: TableNames): Statement {
  return {
    name: 'retire-graphs',
    text: `
    UPDATE ${t.graphs} g SET status = 'retired', retired_at = ${clock('$1')}
     WHERE ${ofName('$2', '$3')} AND g.version = ANY ($4::int[]) AND g.status = 'published' RETURNING ${ROW}`,
  };
}

/** What is told of a definition: no run stands behind it. $1 offset ms, $2 series id, $3 owner, $4 events, $5 definition, $6 version, $7 actor. */
export function tellOfGraph(t: TableNames): Statement {
  return {
    name: 'tell-of-graph',
    text: `
    INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, definition_id, definition_version, actor, created_at)
    VALUES ($2::uuid, $3::text, ${slotOf('$2::uuid')}, $4::json, $5::text, $6::int, $7::json, ${clock('$1')}) RETURNING id`,
  };
}

/**
 * One of a graph. The owner's own before the shared one, of which no draft is shown. $1 definition, $2 owner, $3 version or null,
 * $4 the draft is meant, $5 or the shared one.
 */
export function findGraph(t: TableNames): Statement {
  return {
    name: 'find-graph',
    text: `
    SELECT ${ROW}, g.source::text AS source FROM ${t.graphs} g
     WHERE g.definition_id = $1::text AND ${OWNER} = ANY (CASE WHEN $5::boolean THEN ARRAY[coalesce($2::text, ''), ''] ELSE ARRAY[coalesce($2::text, '')] END)
       AND CASE WHEN $4::boolean THEN g.version IS NULL AND g.owner_id IS NOT DISTINCT FROM $2 WHEN $3::int IS NULL THEN g.status = 'published' ELSE g.version = $3 END
     ORDER BY g.owner_id IS NULL, g.version DESC LIMIT 1`,
  };
}

/** By the index of versions, two places in it. $1 definition, $2 owner, $3 version or null. */
export function startableGraph(t: TableNames): Statement {
  return {
    name: 'startable-graph',
    text: `
    SELECT g.owner_id AS "ownerId", g.definition_id AS "definitionId", g.version, g.fingerprint FROM ${t.graphs} g
     WHERE g.definition_id = $1::text AND ${OWNER} = ANY (ARRAY[coalesce($2::text, ''), '']) AND g.version IS NOT NULL
       AND g.status = 'published' AND ($3::int IS NULL OR g.version = $3)
     ORDER BY g.owner_id IS NULL, g.version DESC LIMIT 1`,
  };
}

/** $1 definitions, $2 owner. */
export function startableIds(t: TableNames): Statement {
  return {
    name: 'startable-ids',
    text: `
    SELECT DISTINCT g.definition_id AS id FROM ${t.graphs} g
     WHERE g.definition_id = ANY ($1::text[]) AND ${OWNER} = ANY (ARRAY[coalesce($2::text, ''), '']) AND g.status = 'published' ORDER BY 1`,
  };
}

/** The owner's own before the shared one. $1 definition, $2 version, $3 fingerprint, $4 owner. */
export function graphByKey(t: TableNames): Statement {
  return {
    name: 'graph-by-key',
    text: `
    SELECT ${ROW}, g.source::text AS source FROM ${t.graphs} g
     WHERE g.definition_id = $1::text AND ${OWNER} = ANY (ARRAY[coalesce($4::text, ''), '']) AND g.version = $2::int AND g.fingerprint = $3::text
     ORDER BY g.owner_id IS NULL LIMIT 1`,
  };
}

/** Whoever's it is. $1 definition, $2 version, $3 fingerprint. */
export function graphExists(t: TableNames): Statement {
  return {
    name: 'graph-exists',
    text: `SELECT EXISTS (SELECT 1 FROM ${t.graphs} WHERE definition_id = $1::text AND version = $2::int AND fingerprint = $3::text) AS found`,
  };
}

/** A page, newest first. $1 owner, $2 definition, $3 statuses, $4 before id, $5 limit. */
export function listGraphs(t: TableNames, kind: ScopeKind): Statement {
  const scope = {
    all: '($1::text IS NULL OR true)',
    owner: '(g.owner_id = $1::text OR g.owner_id IS NULL AND g.version IS NOT NULL)',
    ownerless: '(g.owner_id IS NULL AND $1::text IS NULL)',
  }[kind];
  return {
    name: `list-graphs-${kind}`,
    text: `
    SELECT ${ROW} FROM ${t.graphs} g
     WHERE ${scope} AND ($2::text IS NULL OR g.definition_id = $2) AND ($3::text[] IS NULL OR g.status = ANY ($3)) AND ($4::uuid IS NULL OR g.id < $4)
     ORDER BY g.id DESC LIMIT $5`,
  };
}
