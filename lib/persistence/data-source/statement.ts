import { createHash } from 'node:crypto';

/** A statement of the engine. Make it once and keep it: its name on the wire is remembered by identity. */
export interface Statement {
  /** What it does, in short: `claim`. Seen in `pg_prepared_statements`. */
  readonly name: string;
  readonly text: string;
}

const HASH_LENGTH = 12;
const MAX_NAME_LENGTH = 63 - HASH_LENGTH - 1;
const wireNames = new WeakMap<Statement, string>();

/**
 * The name under which a statement is prepared: its own and a hash of its text, at most 63 bytes.
 *
 * With the text in it, two engines of other schemas, prefixes or versions can share a connection (behind PgBouncer they
 * do) without meeting each other's statements.
 */
export function wireNameOf(statement: Statement): string {
  let name = wireNames.get(statement);
  if (name === undefined) {
    const word = statement.name.replace(/[^\w-]/g, '_').slice(0, MAX_NAME_LENGTH);
    name = `${word}_${createHash('sha256').update(statement.text).digest('hex').slice(0, HASH_LENGTH)}`;
    wireNames.set(statement, name);
  }
  return name;
}
