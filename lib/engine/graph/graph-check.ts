import { InvalidOptionsError } from '../../errors/index.js';
import type { Expression } from '../expression/index.js';
import { compileRetryPolicy, type CompiledRetryPolicy, type RetryPolicy } from '../retry/index.js';
import { compileMapping, type CompiledMapping } from './compiled-mapping.js';
import type { ExpressionPlace, GraphExpressions } from './graph-expressions.js';
import { DEFAULT_GRAPH_DEFAULTS, type GraphCatalogue, type GraphStageType } from './graph-catalogue.js';
import type { GraphLimits } from './graph-limits.js';
import type { GraphPath, GraphProblems } from './graph-problem.js';
import { BUILT_IN_TYPES } from './built-in-types.js';

/** What all checks of one graph share. */
export class GraphCheck {
  constructor(
    readonly catalogue: GraphCatalogue,
    readonly limits: GraphLimits,
    readonly expressions: GraphExpressions,
    readonly problems: GraphProblems,
    /** The graph's own policy, where it has one. */
    readonly settingsRetry: CompiledRetryPolicy | undefined,
  ) {}

  get defaults() {
    return this.catalogue.defaults ?? DEFAULT_GRAPH_DEFAULTS;
  }

  /** A type of the host's, or undefined with a problem. */
  stageType(type: string, path: GraphPath): GraphStageType | undefined {
    const { types } = this.catalogue;
    if (Object.hasOwn(types, type)) return types[type];
    const suggestion = this.problems.closest(type, [...Object.keys(BUILT_IN_TYPES), ...Object.keys(types)]);
    this.problems.add('UNKNOWN_TYPE', path, { type, suggestion });
    return undefined;
  }

  workflow(id: string, path: GraphPath): void {
    const known = this.catalogue.workflows;
    if (known === undefined || known.includes(id)) return;
    const suggestion = this.problems.closest(id, known);
    this.problems.add('UNKNOWN_WORKFLOW', path, { workflow: id, suggestion, known: known.slice(0, 20) });
  }

  /** One whose changes triggers hear of. */
  entity(name: string, path: GraphPath): void {
    const known = this.catalogue.entities;
    if (known === undefined || known.includes(name)) return;
    const suggestion = this.problems.closest(name, known);
    this.problems.add('UNKNOWN_ENTITY', path, { entity: name, suggestion, known: known.slice(0, 20) });
  }

  retry(value: unknown, path: GraphPath): CompiledRetryPolicy | undefined {
    return readGraphRetry(value, path, this.problems);
  }

  /** A `when`, an `if`, a mapping that may be left out: null where it is. */
  optional(
    text: unknown,
    gives: 'bool' | 'text',
    place: ExpressionPlace,
    path: GraphPath,
    reader: string | null,
  ): Expression | null {
    return text === undefined ? null : (this.expressions.compile(text, gives, place, path, reader) ?? null);
  }

  mapping(value: unknown, place: ExpressionPlace, path: GraphPath, reader: string | null): CompiledMapping | null {
    if (value === undefined) return null;
    const compile = (text: string, at: GraphPath) => this.expressions.compile(text, 'value', place, at, reader);
    return compileMapping(value, path, compile) ?? null;
  }
}

/** A retry policy whose shape is right; undefined where there is none, or with problems. */
export function readGraphRetry(
  value: unknown,
  path: GraphPath,
  problems: GraphProblems,
): CompiledRetryPolicy | undefined {
  if (value === undefined) return undefined;
  try {
    return compileRetryPolicy(value as RetryPolicy, 'retry');
  } catch (error) {
    if (!(error instanceof InvalidOptionsError)) throw error;
    for (const { path: option, message } of error.problems)
      problems.add('INVALID_SHAPE', path, { message: `${option} ${message.replace(/\.$/, '')}` });
    return undefined;
  }
}
