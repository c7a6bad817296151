import { z } from 'zod';
import type { GraphPath, GraphProblems, ProblemCode } from './graph-problem.js';
import type { CodedIssue } from './schema-parts.js';

type Issue = z.core.$ZodIssue;

/** Where a value stands, and whose it is: problems of a config name its node. */
export interface Place {
  readonly path: GraphPath;
  /** The node whose config it is: its misfits are INVALID_CONFIG. */
  readonly configOf?: string;
}

/** The value as its schema reads it; undefined with a problem for each misfit, at its own place. */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: Place,
  problems: GraphProblems,
): z.output<Schema> | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape as object) : [];
  for (const issue of parsed.error.issues) addIssue(issue, value, place, known, problems);
  return undefined;
}

/** A misfit in the words of the schema; of a config, or else of a graph's shape. */
export function addMisfit(message: string, path: GraphPath, { configOf }: Place, problems: GraphProblems): void {
  if (configOf === undefined) problems.add('INVALID_SHAPE', path, { message });
  else problems.add('INVALID_CONFIG', path, { place: `node ${configOf}`, issues: [{ message }] });
}

function addIssue(issue: Issue, value: unknown, place: Place, known: readonly string[], problems: GraphProblems): void {
  const path = [...place.path, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
  const coded = codedOf(issue);
  if (coded !== undefined) return problems.add(coded.code, path, coded.params);
  if (issue.code === 'unrecognized_keys') {
    const there = issue.path.length === 0 && known.length > 0 ? `; there is: ${known.join(', ')}` : '';
    for (const key of issue.keys)
      addMisfit(`There is no field "${key.slice(0, 100)}" here${there}`, [...path, key], place, problems);
    return;
  }
  const given = valueAt(value, issue.path);
  if (issue.code === 'invalid_union' && given !== undefined) {
    const nearest = nearestOf(issue.errors);
    const inside = { ...place, path };
    if (nearest !== undefined) return nearest.forEach((one) => addIssue(one, given, inside, [], problems));
  }
  if (given === undefined) return addMisfit(`${nameOf(path)} is missing`, path, place, problems);
  addMisfit(`${nameOf(path)}: ${issue.message}`, path, place, problems);
}

/** The alternative that was meant: whose kind of value it is, so that only something inside is wrong. */
function nearestOf(errors: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return errors.find((issues) =>
    issues.every(
      (issue) => issue.path.length > 0 || codedOf(issue) !== undefined || issue.code === 'unrecognized_keys',
    ),
  );
}

function codedOf(issue: Issue): CodedIssue | undefined {
  const params = issue.code === 'custom' ? (issue.params as Partial<CodedIssue> | undefined) : undefined;
  return params?.code === undefined || params.params === undefined
    ? undefined
    : { code: params.code as ProblemCode, params: params.params };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

function nameOf(path: GraphPath): string {
  const last = path.at(-1);
  return last === undefined ? 'The graph' : typeof last === 'number' ? `Item ${last + 1}` : `"${last.slice(0, 100)}"`;
}
