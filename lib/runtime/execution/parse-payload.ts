import type { ParsableSchema } from '../../engine/definition/parsable-schema.js';
import { InvalidInputError, InvalidOutputError, type SchemaIssue } from '../../errors/index.js';

/** @throws InvalidInputError, never retried, when the schema refuses the value */
export async function parseInput(schema: ParsableSchema | null, value: unknown, what: string): Promise<unknown> {
  if (!schema) return value;
  const result = await schema.safeParseAsync(value);
  if (result.success) return result.data;
  throw new InvalidInputError({ what, issues: result.error.issues.map(plainIssue) });
}

/** @throws InvalidOutputError, never retried, when the schema refuses the value; it names the first issue's path */
export async function parseOutput(schema: ParsableSchema | null, value: unknown, what: string): Promise<unknown> {
  if (!schema) return value;
  const result = await schema.safeParseAsync(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(plainIssue);
  const first = issues[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  throw new InvalidOutputError({
    what,
    path: pathText(first?.path),
    reason: `does not fit its schema: ${first?.message ?? 'refused'}${more}`,
  });
}

/**
 * What a wait's `schema` makes of the payload that ended it. Not asynchronous: it is parsed where it is delivered, in order.
 *
 * @throws InvalidInputError, never retried, when the schema refuses the value
 */
export function parsePayload(schema: unknown, value: unknown, what: string): unknown {
  let result: ReturnType<SyncSchema['safeParse']>;
  try {
    result = (schema as SyncSchema).safeParse(value);
  } catch (error) {
    // zod says so by throwing: a schema with asynchronous parts can't be asked here.
    const message = `its schema can't be used: ${error instanceof Error ? error.message : String(error)}`;
    throw new InvalidInputError({ what, issues: [{ message }] });
  }
  if (result.success) return result.data;
  throw new InvalidInputError({ what, issues: result.error.issues.map(plainIssue) });
}

interface SyncSchema {
  safeParse(
    value: unknown,
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly SchemaIssue[] } };
}

/** Without what else a library puts into its issues: the value itself may be in there. */
function plainIssue({ path, message }: SchemaIssue): SchemaIssue {
  return path === undefined ? { message } : { path, message };
}

function pathText(path: SchemaIssue['path']): string {
  if (path === undefined || typeof path === 'string') return path ? `$.${path}` : '$';
  return path.reduce<string>((text, key) => text + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`), '$');
}
