import { encodeJson, decodeJson } from '../../engine/codec/index.js';
import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import { dryRunProblems } from '../../engine/dry-run/index.js';
import type { CompiledGraph } from '../../engine/graph/index.js';
import { InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
import type { StartOptions } from '../../interfaces/index.js';

/** What a dry run takes for given. Subject, owner and actor as `start` has them. */
export interface DryRunOptions extends Pick<StartOptions, 'subject' | 'owner' | 'actor'> {
  /** What nodes give that are not run: stages, approvals, waits, transitions, other workflows. By node, for every visit. @default not known */
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** How nodes end, by node: `{ sign: 'rejected' }`. Asked only where the graph and the outputs do not say. @default as they usually do */
  readonly outcomes?: Readonly<Record<string, string>>;
}

/** The same, checked: by node, whatever its id is. */
export interface ReadDryRun {
  readonly start: StartOptions;
  readonly outputs: ReadonlyMap<string, unknown>;
  readonly outcomes: ReadonlyMap<string, string>;
}

const KNOWN = ['subject', 'owner', 'actor', 'outputs', 'outcomes'];

/** @throws InvalidOptionsError with everything that is wrong; InvalidInputError for outputs that are no JSON */
export function readDryRun(options: DryRunOptions, where: string): ReadDryRun {
  const problems: OptionProblem[] = [];
  const complain = (path: string, message: string): void => void problems.push({ path, message });
  if (!isObject(options)) throw refused(where, [{ path: 'options', message: 'must be an object' }]);
  for (const name of Object.keys(options))
    if (!KNOWN.includes(name)) complain(name, `is not an option; there are ${KNOWN.join(', ')}`);
  const { outputs = {}, outcomes = {}, ...start } = options;
  if (!isObject(outputs)) complain('outputs', 'must be an object: what a node gives, by its id');
  const areNames = isObject(outcomes) && Object.values(outcomes).every((one) => typeof one === 'string');
  if (!areNames) complain('outcomes', 'must be an object: the name of an outcome, by the id of the node');
  if (problems.length > 0) throw refused(where, problems);
  // As they would be stored.
  const stored = decodeJson(encodeJson(outputs, { kind: 'input', what: 'outputs' }), 'outputs');
  return { start, outputs: new Map(Object.entries(stored as object)), outcomes: new Map(Object.entries(outcomes)) };
}

/** What is said of nodes must be about nodes that there are. @throws InvalidOptionsError */
export function checkDryRun(
  { outputs, outcomes }: ReadDryRun,
  definition: CompiledDefinition | CompiledGraph,
  where: string,
): void {
  const problems = dryRunProblems(definition, outputs, outcomes);
  if (problems.length > 0) throw refused(where, problems);
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const refused = (where: string, problems: readonly OptionProblem[]): InvalidOptionsError =>
  new InvalidOptionsError({ where, problems });
