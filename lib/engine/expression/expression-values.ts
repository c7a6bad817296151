import { boundName } from './bound-outputs.js';
import { EventValue } from './event-value.js';
import type { ExpressionVariable } from './expression-scope.js';

/** What expressions are evaluated on: JSON, but for `now`. What is left out is null. */
export interface ExpressionInputs {
  readonly input?: unknown;
  readonly subject?: unknown;
  readonly owner?: unknown;
  readonly actor?: unknown;
  readonly event?: unknown;
  readonly approvers?: unknown;
  /** The instant that the evaluation takes for now. */
  readonly now?: Date;
  /** What a node came to, asked when an expression names it; undefined = it has no output, and reads as null. */
  readonly outputOf?: (node: string) => unknown;
}

/** How large values are: what an evaluation may cost is told from it. */
export type Extent = Pick<EventValue, 'values' | 'longestList' | 'longestText'>;

/** Values as expressions see them, each read once and only when an expression names it. Make one for many expressions. */
export class ExpressionValues {
  readonly #inputs: ExpressionInputs;
  readonly #read = new Map<string, EventValue>();

  constructor(inputs: ExpressionInputs) {
    this.#inputs = inputs;
  }

  output(node: string): EventValue {
    return this.#value(`output ${node}`, () => this.#inputs.outputOf?.(node));
  }

  /** The context of an evaluation that names these variables and outputs. */
  contextOf(variables: readonly ExpressionVariable[], outputs: readonly string[]): Record<string, unknown> {
    return Object.fromEntries([
      ...variables.map((name) => [name, name === 'now' ? this.#inputs.now : this.#variable(name).value] as const),
      ...outputs.map((node, at) => [boundName(at), this.output(node).value] as const),
    ]);
  }

  /** How large all of them are together; or, where one cannot be read, why. */
  extentOf(variables: readonly ExpressionVariable[], outputs: readonly string[]): Extent | string {
    const extent = { values: 0, longestList: 0, longestText: 0 };
    if (variables.includes('now') && this.#inputs.now === undefined) return 'there is no now';
    const read = [
      ...variables.flatMap((name) => (name === 'now' ? [] : [[name, this.#variable(name)] as const])),
      ...outputs.map((node) => [`output("${node}")`, this.output(node)] as const),
    ];
    for (const [name, value] of read) {
      if (value.problem !== null) return `${name}: ${value.problem}`;
      extent.values += value.values;
      extent.longestList = Math.max(extent.longestList, value.longestList);
      extent.longestText = Math.max(extent.longestText, value.longestText);
    }
    return extent;
  }

  #variable(name: Exclude<ExpressionVariable, 'now'>): EventValue {
    return this.#value(name, () => this.#inputs[name]);
  }

  #value(key: string, given: () => unknown): EventValue {
    let value = this.#read.get(key);
    if (value === undefined) {
      value = EventValue.of(given());
      this.#read.set(key, value);
    }
    return value;
  }
}
