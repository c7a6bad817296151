import { InvalidExpressionError } from '../../errors/index.js';
import {
  compileExpression,
  type Expression,
  type ExpressionResult,
  type ExpressionScope,
  type ExpressionVariable,
} from '../expression/index.js';
import type { GraphCatalogue } from './graph-catalogue.js';
import type { GraphLimits } from './graph-limits.js';
import type { GraphPath, GraphProblems } from './graph-problem.js';

/** Where an expression stands, which decides what it may speak of. */
export type ExpressionPlace = 'node' | 'people' | 'event' | 'received' | 'schedule';

const RUN: readonly ExpressionVariable[] = ['input', 'subject', 'owner', 'actor', 'now'];

const VARIABLES: Readonly<Record<ExpressionPlace, readonly ExpressionVariable[]>> = Object.freeze({
  node: RUN,
  people: [...RUN, 'approvers'],
  event: ['event'],
  received: ['event', 'owner', 'now'],
  schedule: ['owner', 'now'],
});

/** The output of nodes that an expression reads, and where it stands: whether they can have run, the flow says. */
export interface OutputReads {
  readonly path: GraphPath;
  /** The node that the expression belongs to. */
  readonly reader: string;
  readonly outputs: readonly string[];
}

/** What is known of the values that expressions of a graph read. */
export type GraphTypes = Pick<ExpressionScope, 'input' | 'outputTypes'>;

/** Compiles the expressions of a graph, complaining about each that is not valid. */
export class GraphExpressions {
  readonly reads: OutputReads[] = [];
  #count = 0;

  constructor(
    private readonly catalogue: GraphCatalogue,
    private readonly limits: GraphLimits,
    private readonly types: GraphTypes,
    private readonly problems: GraphProblems,
  ) {}

  /** @param reader the node that it belongs to, or null in a trigger */
  compile(
    text: unknown,
    gives: ExpressionResult,
    place: ExpressionPlace,
    path: GraphPath,
    reader: string | null,
  ): Expression | undefined {
    this.#count += 1;
    const { maxExpressions } = this.limits;
    if (this.#count > maxExpressions) {
      const params = {
        where: 'The graph',
        actual: `more than ${maxExpressions}`,
        limit: 'maxExpressions',
        value: maxExpressions,
      };
      if (this.#count === maxExpressions + 1) this.problems.add('GRAPH_TOO_LARGE', [], params);
      return undefined;
    }
    const expression = this.#try(text, gives, place, path);
    if (expression === undefined) return undefined;
    if (reader !== null && expression.outputs.length > 0)
      this.reads.push({ path, reader, outputs: expression.outputs });
    for (const name of expression.approvers) this.#checkApprovers(name, expression, path);
    return expression;
  }

  /** The ids that an expression is a list of, or null where it is something else, or not valid. */
  idsIn(text: string): readonly string[] | null {
    try {
      return compileExpression(text, this.#scopeOf('people'), 'list').constantTexts;
    } catch {
      return null;
    }
  }

  #try(text: unknown, gives: ExpressionResult, place: ExpressionPlace, path: GraphPath): Expression | undefined {
    try {
      return this.#giving(compileExpression(text, this.#scopeOf(place), gives), path);
    } catch (error) {
      if (!(error instanceof InvalidExpressionError)) throw error;
      this.problems.add('INVALID_EXPRESSION', path, error.params);
      return undefined;
    }
  }

  /** One that reads nothing gives the same to every run: what fails now would fail then. */
  #giving(expression: Expression, path: GraphPath): Expression | undefined {
    const message = this.catalogue.published ? null : expression.constantProblem;
    if (message === null) return expression;
    this.problems.add('INVALID_EXPRESSION', path, { expression: expression.text.slice(0, 200), message });
    return undefined;
  }

  #scopeOf(place: ExpressionPlace): ExpressionScope {
    const ofRun = place === 'node' || place === 'people';
    const types = ofRun && !this.catalogue.published ? this.types : {};
    return { variables: VARIABLES[place], outputs: ofRun, ...types };
  }

  #checkApprovers(name: string | undefined, { text }: Expression, path: GraphPath): void {
    const { approvers: known } = this.catalogue;
    if (name === undefined) {
      const message = 'approvers is used by its names only: approvers.managers';
      this.problems.add('INVALID_EXPRESSION', path, { expression: text.slice(0, 200), message });
    } else if (known !== undefined && !known.includes(name)) {
      const suggestion = this.problems.closest(name, known);
      this.problems.add('UNKNOWN_APPROVERS', path, { approvers: name, suggestion, known: known.slice(0, 20) });
    }
  }
}
