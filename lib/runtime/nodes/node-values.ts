import { decodeJson, encodeJson } from '../../engine/codec/index.js';
import { ExpressionValues, type Expression, type ExpressionInputs } from '../../engine/expression/index.js';
import { evaluateMapping, type CompiledMapping } from '../../engine/graph/index.js';
import { expressionsIn, GraphVisits } from '../../engine/walk/index.js';
import type { StageContext } from '../../interfaces/index.js';
import { ExpressionFailedError } from '../../errors/index.js';

export interface NodeValuesParts {
  readonly node: string;
  readonly ctx: StageContext & {
    /** Whether it makes durable calls: not in a cancel hook. */
    readonly isDurable: boolean;
  };
  /** What the run has come to so far. */
  readonly visits: GraphVisits;
  /** What expressions may read of what the run is about; null where that is nothing. */
  readonly subject: () => Promise<unknown>;
  /** The database's clock, ISO 8601. */
  readonly now: () => Promise<string>;
}

/** What the expressions of one node are evaluated on, in the owner's context: read when an expression names it, once an attempt. */
export class NodeValues {
  constructor(private readonly parts: NodeValuesParts) {}

  get visits(): GraphVisits {
    return this.parts.visits;
  }

  /** @throws ExpressionFailedError */
  async evaluate(expression: Expression, more: ExpressionInputs = {}): Promise<unknown> {
    return this.#given(expression.evaluate(await this.of([expression], more)));
  }

  /** @throws ExpressionFailedError */
  async map(mapping: CompiledMapping): Promise<unknown> {
    return this.#given(evaluateMapping(mapping, await this.of(expressionsIn(mapping))));
  }

  /** The same for every attempt and replay, whatever has changed meanwhile. @throws ExpressionFailedError */
  fixed(name: string, expression: Expression): Promise<unknown> {
    return this.#fixed(name, [expression], () => this.evaluate(expression));
  }

  /** The same for every attempt and replay, whatever has changed meanwhile. @throws ExpressionFailedError */
  fixedMap(name: string, mapping: CompiledMapping): Promise<unknown> {
    return this.#fixed(name, expressionsIn(mapping), () => this.map(mapping));
  }

  /** Values for these expressions. */
  async of(expressions: readonly Expression[], more: ExpressionInputs = {}): Promise<ExpressionValues> {
    const { ctx, visits, subject, now } = this.parts;
    const names = new Set(expressions.flatMap(({ variables }) => variables));
    return new ExpressionValues({
      outputOf: (node) => visits.output(node),
      ...(names.has('input') && { input: ctx.run.input }),
      ...(names.has('subject') && { subject: plain(await subject(), 'The subject') }),
      ...(names.has('owner') && { owner: plain(ctx.owner, 'The owner') }),
      ...(names.has('actor') && { actor: plain(ctx.actor, 'The actor') }),
      ...(names.has('now') && { now: new Date(await now()) }),
      ...more,
    });
  }

  /** What a run holds never changes; all else is looked at once, as a step of the ledger. */
  #fixed(name: string, expressions: readonly Expression[], read: () => Promise<unknown>): Promise<unknown> {
    const moves = expressions.some(({ variables }) => variables.some((variable) => variable !== 'input'));
    return moves && this.parts.ctx.isDurable ? this.parts.ctx.step.run(name, read) : read();
  }

  #given(answer: ReturnType<Expression['evaluate']>): unknown {
    if (answer.ok) return answer.value;
    throw new ExpressionFailedError({ node: this.parts.node, message: answer.problem });
  }
}

/** As JSON has it: an entity's dates are texts there, its methods nothing. */
function plain(value: unknown, what: string): unknown {
  return value === undefined || value === null ? null : decodeJson(encodeJson(value, { what }), what);
}
