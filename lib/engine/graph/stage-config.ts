import { decodeJson, encodeJson } from '../codec/json.js';
import { thrownMessage } from '../codec/thrown-text.js';
import type { GraphStageType } from './graph-catalogue.js';
import { freezeDeep } from './freeze-deep.js';
import type { GraphPath, GraphProblems } from './graph-problem.js';

/** The config of a stage as its own schema parses it, once, async refinements too; undefined with problems where it does not fit. */
export async function checkStageConfig(
  given: unknown,
  { config: schema }: GraphStageType,
  type: string,
  path: GraphPath,
  problems: GraphProblems,
): Promise<unknown> {
  const refuse = (message: string, keys: GraphPath = []): void =>
    problems.add('INVALID_CONFIG', [...path, ...keys], { place: `type ${type}`, issues: [{ message }] });
  if (schema === undefined || schema === null) {
    if (given !== undefined) refuse(`The type takes no config: its @Stage declares none`);
    return undefined;
  }
  try {
    let parsed = await schema.safeParseAsync(given);
    // Left out is no config, or an empty one whose fields have their defaults: whichever the schema takes.
    if (!parsed.success && given === undefined) parsed = await schema.safeParseAsync({});
    if (parsed.success) return frozenCopy(parsed.data);
    for (const issue of parsed.error.issues) refuse(issue.message, keysOf(issue.path));
  } catch (error) {
    refuse(`It could not be checked: its schema threw "${thrownMessage(error)}"`);
  }
  return undefined;
}

/** What a schema made that JSON cannot hold stays what it is: the host's own, and not ours to freeze. */
function frozenCopy(value: unknown): unknown {
  if (value === undefined) return undefined;
  try {
    return freezeDeep(decodeJson(encodeJson(value)));
  } catch {
    return value;
  }
}

function keysOf(path: unknown): GraphPath {
  return Array.isArray(path) ? path.map((key) => (typeof key === 'number' ? key : String(key))) : [];
}
