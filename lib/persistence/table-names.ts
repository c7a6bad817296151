import { createHash } from 'node:crypto';
import { InvalidOptionsError } from '../errors/index.js';

export const DEFAULT_TABLE_PREFIX = 'workflow_';

export const TABLES = [
  'runs',
  'stage_runs',
  'node_visits',
  'attempts',
  'jobs',
  'idempotency_keys',
  'outbox',
  'outbox_slots',
  'definitions',
  'schema_versions',
  'steps',
  'events',
  'annotations',
  'log_lines',
  'audit',
  'start_rates',
  'graphs',
  'approval_rounds',
  'approval_asks',
  'approval_decisions',
  'triggers',
] as const;

export type Table = (typeof TABLES)[number];

/** Where the engine's tables stand. */
export interface TablePlace {
  /** Schema of the tables; left out: the connection's current one (the first of its search_path). */
  readonly schema?: string;
  /** @default 'workflow_' */
  readonly prefix?: string;
}

/** The same as a host says it. */
export interface WorkflowTablesOptions {
  /** Schema of the tables; created if missing. @default the connection's current schema */
  readonly schema?: string;
  /** @default 'workflow_' */
  readonly tablePrefix?: string;
}

/** Names for SQL text, quoted and qualified: `"flows"."workflow_runs"`. */
export interface TableNames {
  readonly schema: string | undefined;
  readonly prefix: string;
  readonly runs: string;
  readonly stageRuns: string;
  readonly nodeVisits: string;
  readonly attempts: string;
  readonly jobs: string;
  readonly idempotencyKeys: string;
  readonly outbox: string;
  readonly outboxSlots: string;
  readonly definitions: string;
  readonly schemaVersions: string;
  readonly steps: string;
  readonly events: string;
  readonly annotations: string;
  readonly logLines: string;
  readonly audit: string;
  readonly startRates: string;
  readonly graphs: string;
  readonly approvalRounds: string;
  readonly approvalAsks: string;
  readonly approvalDecisions: string;
  readonly triggers: string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** PostgreSQL cuts names at 63 bytes, silently; the longest index name needs 32 of them after the prefix. */
const MAX_SCHEMA_LENGTH = 63;
const MAX_PREFIX_LENGTH = 31;

/**
 * Names of the engine's tables.
 *
 * @throws InvalidOptionsError for a schema or prefix that is no plain identifier: they become part of SQL texts
 */
export function tableNames({ schema, prefix = DEFAULT_TABLE_PREFIX }: TablePlace = {}): TableNames {
  checkIdentifiers(schema, prefix);
  const named = (table: Table): string => qualified(schema, `${prefix}${table}`);
  return {
    schema,
    prefix,
    runs: named('runs'),
    stageRuns: named('stage_runs'),
    nodeVisits: named('node_visits'),
    attempts: named('attempts'),
    jobs: named('jobs'),
    idempotencyKeys: named('idempotency_keys'),
    outbox: named('outbox'),
    outboxSlots: named('outbox_slots'),
    definitions: named('definitions'),
    schemaVersions: named('schema_versions'),
    steps: named('steps'),
    events: named('events'),
    annotations: named('annotations'),
    logLines: named('log_lines'),
    audit: named('audit'),
    startRates: named('start_rates'),
    graphs: named('graphs'),
    approvalRounds: named('approval_rounds'),
    approvalAsks: named('approval_asks'),
    approvalDecisions: named('approval_decisions'),
    triggers: named('triggers'),
  };
}

/** A quoted name, qualified if there is a schema: `"flows"."workflow_runs"`. Both are plain identifiers. */
export function qualified(schema: string | undefined, name: string): string {
  return schema === undefined ? `"${name}"` : `"${schema}"."${name}"`;
}

/** A short word that is the same for all processes that use these tables; names channels. */
export function placeHash({ schema, prefix }: Pick<TableNames, 'schema' | 'prefix'>): string {
  return createHash('sha256')
    .update(`${schema ?? ''}\u0000${prefix}`)
    .digest('hex')
    .slice(0, 16);
}

function checkIdentifiers(schema: string | undefined, prefix: string): void {
  const problems = [];
  if (schema !== undefined && !isIdentifier(schema, MAX_SCHEMA_LENGTH)) {
    problems.push({ path: 'schema', message: sentence(schema, MAX_SCHEMA_LENGTH) });
  }
  if (prefix !== '' && !isIdentifier(prefix, MAX_PREFIX_LENGTH)) {
    problems.push({ path: 'tablePrefix', message: sentence(prefix, MAX_PREFIX_LENGTH) });
  }
  if (problems.length > 0) throw new InvalidOptionsError({ problems });
}

function isIdentifier(name: unknown, length: number): boolean {
  return typeof name === 'string' && name.length <= length && IDENTIFIER.test(name);
}

function sentence(name: unknown, length: number): string {
  return `${JSON.stringify(name)} must be letters, digits and _, not beginning with a digit, at most ${length} characters`;
}
