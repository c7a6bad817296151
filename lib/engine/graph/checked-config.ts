import type { Expression } from '../expression/index.js';
import { jsonPath } from '../codec/json-path.js';
import { type BuiltInType, ONLY } from './built-in-types.js';
import { compileMapping, type CompiledMapping } from './compiled-mapping.js';
import type { ConfigCheck } from './config-check.js';
import { freezeDeep } from './freeze-deep.js';
import type { GraphCheck } from './graph-check.js';
import type { GraphPath } from './graph-problem.js';
import type { Outcome } from './outcome.js';
import { addMisfit, parseWith, type Place } from './schema-issues.js';

/** A config that was checked, and what it says of its node. */
export interface CheckedConfig {
  readonly value: unknown;
  readonly outcomes: readonly Outcome[];
  readonly expressions: ReadonlyMap<string, Expression>;
  readonly mappings: ReadonlyMap<string, CompiledMapping>;
}

/** Checks the config of a built-in node; undefined where its schema does not fit, so that its outcomes are unknown. */
export function checkBuiltInConfig(
  type: BuiltInType,
  given: unknown,
  path: GraphPath,
  node: string,
  check: GraphCheck,
): CheckedConfig | undefined {
  const place: Place = { path, configOf: node };
  const schema = formOf(type, given, place, check);
  // An end says nothing more where it has no config.
  const config = schema && parseWith(schema, given ?? {}, place, check.problems);
  if (config === undefined) return undefined;
  type.check(config as never, configCheck(path, node, check));
  return {
    value: freezeDeep(config),
    outcomes: type.outcomes(config as never),
    ...compileParts(type, config, path, node, check),
  };
}

function formOf(type: BuiltInType, given: unknown, place: Place, { problems }: GraphCheck) {
  const names = Object.keys(type.forms);
  if (names.length === 1) return type.forms[ONLY];
  const there = typeof given === 'object' && given !== null ? names.filter((name) => Object.hasOwn(given, name)) : [];
  if (there.length === 1) return type.forms[there[0]!];
  addMisfit(
    `"config" must have one of ${names.join(', ')}, and has ${there.join(' and ') || 'none'}`,
    place.path,
    place,
    problems,
  );
  return undefined;
}

function compileParts(type: BuiltInType, config: unknown, path: GraphPath, node: string, check: GraphCheck) {
  const expressions = new Map<string, Expression>();
  for (const { path: at, text, gives, speaksOf = 'node' } of type.expressions(config as never)) {
    const expression = check.expressions.compile(text, gives, speaksOf, [...path, ...at], node);
    if (expression !== undefined) expressions.set(placeName(at), expression);
    if (expression !== undefined && gives !== 'bool') checkTurns(expression, at, path, node, check);
  }
  const mappings = new Map<string, CompiledMapping>();
  for (const { path: at, mapping } of type.mappings(config as never)) {
    const compiled = compileMapping(mapping, [...path, ...at], (text, place) =>
      check.expressions.compile(text, 'value', 'node', place, node),
    );
    if (compiled !== undefined) mappings.set(placeName(at), compiled);
  }
  return { expressions, mappings };
}

/** Turns of a loop that are known whatever the values: `count: "2 * 600"`. */
function checkTurns(expression: Expression, at: GraphPath, path: GraphPath, node: string, check: GraphCheck): void {
  if (expression.gives !== 'count' || !expression.isConstant) return;
  const answer = expression.evaluateConstant();
  if (answer.ok) configCheck(path, node, check).turns(answer.value as number, at);
}

/** `cases[0].if` */
function placeName(at: GraphPath): string {
  return jsonPath('', at).replace(/^\./, '');
}

function configCheck(path: GraphPath, node: string, check: GraphCheck): ConfigCheck {
  const { problems, limits, expressions } = check;
  const misfit: ConfigCheck['misfit'] = (message, at) =>
    addMisfit(message, [...path, ...at], { path, configOf: node }, problems);
  return {
    node,
    misfit,
    problem: (code, at, params) => problems.add(code, [...path, ...at], params),
    turns: (count, at) => {
      const most = limits.maxLoopIterations;
      if (count > most) misfit(`The loop would turn ${count} times, over maxLoopIterations = ${most}`, at);
    },
    workflow: (id, at) => check.workflow(id, [...path, ...at]),
    idsIn: (text) => expressions.idsIn(text),
  };
}
