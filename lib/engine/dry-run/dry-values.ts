import { jsonPath } from '../codec/json-path.js';
import { decodeJson } from '../codec/json.js';
import { ExpressionValues, type Expression, type ExpressionInputs } from '../expression/index.js';
import type { CompiledMapping } from '../graph/index.js';
import type { JsonText } from '../state/rows.js';
import type { DryWorld } from './dry-given.js';

/** What an expression gives in a dry run. */
export type DryAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'unknown'; readonly why: readonly string[] };

/** What a mapping gives: the whole, or what is known of it. */
export interface DryMapped {
  readonly value: unknown;
  /** Empty: all of it is known. */
  readonly unknown: readonly string[];
  readonly problem: string | null;
}

export interface DryValuesParts {
  readonly input: JsonText;
  readonly world: DryWorld;
  readonly outputOf: (node: string) => unknown;
  /** Nodes whose newest output is not known. */
  readonly unknownOutputs: ReadonlySet<string>;
  /** Nodes passed before that take time, or may change what the run is about. */
  readonly passed: readonly string[];
}

const NOTHING: unique symbol = Symbol('nothing known');

/** What the expressions of one visit are evaluated on, and what of it is not known. */
export class DryValues {
  /** What was read as it is now, and may be otherwise by then. */
  readonly stale = new Set<string>();
  readonly #parts: DryValuesParts;
  #input: { readonly value: unknown } | undefined;

  constructor(parts: DryValuesParts) {
    this.#parts = parts;
  }

  get world(): DryWorld {
    return this.#parts.world;
  }

  get input(): unknown {
    this.#input ??= { value: decodeJson(this.#parts.input, 'The input of a dry run') };
    return this.#input.value;
  }

  evaluate(expression: Expression, more: ExpressionInputs = {}): DryAnswer {
    const why = this.#unknownIn(expression);
    if (why.length > 0) return { kind: 'unknown', why };
    const answer = expression.evaluate(this.of([expression], more));
    return answer.ok ? { kind: 'value', value: answer.value } : { kind: 'failed', problem: answer.problem };
  }

  /** What of these expressions is not known: one sentence each. */
  unknownIn(expressions: readonly Expression[]): string[] {
    return [...new Set(expressions.flatMap((expression) => this.#unknownIn(expression)))];
  }

  map(mapping: CompiledMapping): DryMapped {
    const unknown: string[] = [];
    let problem: string | null = null;
    const read = (part: CompiledMapping, keys: readonly (string | number)[]): unknown => {
      switch (part.kind) {
        case 'constant':
          return part.value;
        case 'expression': {
          const answer = this.evaluate(part.expression);
          if (answer.kind === 'value') return answer.value;
          const place = jsonPath('$', keys);
          if (answer.kind === 'failed') problem ??= `${place}: ${answer.problem}`;
          else unknown.push(...answer.why.map((why) => (keys.length === 0 ? why : `${place}: ${why}`)));
          return NOTHING;
        }
        case 'list':
          return part.items
            .map((item, at) => read(item, [...keys, at]))
            .map((item) => (item === NOTHING ? null : item));
        case 'object':
          return Object.fromEntries(
            part.fields
              .map(([name, item]) => [name, read(item, [...keys, name])] as const)
              .filter(([, item]) => item !== NOTHING),
          );
      }
    };
    const value = read(mapping, []);
    return { value: value === NOTHING ? undefined : value, unknown, problem };
  }

  /** Values for expressions of which all is known. */
  of(expressions: readonly Expression[], more: ExpressionInputs = {}): ExpressionValues {
    const { world, outputOf, passed } = this.#parts;
    const names = new Set(expressions.flatMap(({ variables }) => variables));
    if (passed.length > 0) {
      const before = `${listed(passed)} ${passed.length === 1 ? 'comes' : 'come'} before`;
      if (names.has('subject') && world.subject !== null)
        this.stale.add(`the subject is looked at as it is now, and ${before}`);
      if (names.has('now')) this.stale.add(`now is taken for the present instant, and ${before}`);
    }
    const { subject, owner, actor, now } = world;
    return new ExpressionValues({ outputOf, input: this.input, subject, owner, actor, now, ...more });
  }

  #unknownIn({ outputs, variables }: Expression): string[] {
    const { unreadable } = this.world;
    if (unreadable !== null && variables.includes('subject')) return [`what it is about: ${unreadable}`];
    return outputs
      .filter((node) => this.#parts.unknownOutputs.has(node))
      .map((node) => `what ${node} gives is not known; say it in outputs`);
  }
}

const MOST_NAMED = 3;

/** Nodes by name, of many the last ones. */
function listed(nodes: readonly string[]): string {
  const named = nodes.slice(-MOST_NAMED);
  return named.length === 1 ? named[0]! : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}
