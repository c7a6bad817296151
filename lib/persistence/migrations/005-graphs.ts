import type { TableNames } from '../table-names.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * Workflows as data: drafts and versions of graphs, and what is told of them.
 *
 * An owner and nobody are told apart by an empty text, which is no owner's id: unique indexes take two nulls for different before
 * PostgreSQL 15.
 */
export const GRAPHS: WorkflowMigration = {
  version: 5,
  name: 'graphs',
  timestamp: 1774742400000,
  statements: (names) => [...graphs(names), ...outbox(names)],
};

function graphs({ graphs, prefix }: TableNames): string[] {
  return [
    `CREATE TABLE ${graphs} (
  id uuid PRIMARY KEY,
  owner_id text,
  definition_id text NOT NULL,
  version int,
  status text NOT NULL,
  fingerprint text,
  source json NOT NULL,
  note text,
  actor json,
  created_at timestamptz NOT NULL DEFAULT now(),
  saved_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,
  retired_at timestamptz
)`,
    `CREATE UNIQUE INDEX "${prefix}graphs_draft" ON ${graphs} (definition_id, coalesce(owner_id, '')) WHERE version IS NULL`,
    `CREATE UNIQUE INDEX "${prefix}graphs_version" ON ${graphs} (definition_id, coalesce(owner_id, ''), version) WHERE version IS NOT NULL`,
    `CREATE INDEX "${prefix}graphs_owner" ON ${graphs} (owner_id, id)`,
  ];
}

/** Events may be about a definition instead of a run. */
function outbox({ outbox }: TableNames): string[] {
  return [
    `ALTER TABLE ${outbox} ADD COLUMN definition_id text, ADD COLUMN definition_version int, ADD COLUMN actor json`,
  ];
}
