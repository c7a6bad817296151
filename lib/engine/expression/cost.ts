import type { ASTNode } from '@marcbachmann/cel-js';
import type { EventValue } from './event-value.js';
import { callOf, childrenOf, contains, isLoop } from './syntax.js';

type Extent = Pick<EventValue, 'values' | 'longestList' | 'longestText'>;

/** Characters that native code compares or copies in the time of one step. */
const CHARACTERS_A_STEP = 256;
/** `size` counts code points one by one. */
const COUNTED_A_STEP = 8;

/** How often something is done: once, once an item of a list, once an item of an item, and so on. */
class Frequency {
  readonly #byDepth: number[] = [];

  add(depth: number): void {
    while (this.#byDepth.length <= depth) this.#byDepth.push(0);
    this.#byDepth[depth]! += 1;
  }

  total(items: number): number {
    return this.#byDepth.reduce((sum, count, depth) => sum + count * items ** depth, 0);
  }
}

/**
 * Bounds from above how many steps an expression takes on a payload, without evaluating it: a loop goes through at most
 * the longest list, and a comparison of two wholes through all there is.
 */
export class ExpressionCost {
  readonly #steps = new Frequency();
  /** Operations on whole lists and objects. */
  readonly #wholes = new Frequency();
  readonly #texts = new Frequency();
  readonly #sizes = new Frequency();
  /** `map` makes new lists, so that an item of a loop may be larger than its part of the payload. */
  readonly #makesLists: boolean;
  #longestLiteral = 1;
  #sums = 0;
  #copies = 1;

  constructor(ast: ASTNode) {
    this.#makesLists = contains(ast, (node) => callOf(node)?.name === 'map');
    this.#add(ast, 0, new Set());
  }

  /** At most how many steps on this payload. */
  on({ values, longestList, longestText }: Extent): number {
    // Fed back through `map`, `x + x` doubles each time; without it, what is added is added once.
    const growth = this.#makesLists ? this.#copies : 1 + this.#sums;
    const items = Math.max(longestList, this.#longestLiteral) * growth;
    const text = longestText * growth;
    return (
      this.#steps.total(items) +
      this.#wholes.total(items) * Math.max(values, this.#longestLiteral) * growth +
      this.#texts.total(items) * Math.ceil(text / CHARACTERS_A_STEP) +
      this.#sizes.total(items) * Math.ceil(text / COUNTED_A_STEP)
    );
  }

  #add(node: ASTNode, depth: number, names: ReadonlySet<string>): void {
    this.#steps.add(depth);
    const call = callOf(node);
    if (isLoop(call)) {
      this.#add(call.receiver, depth, names);
      const [name, ...bodies] = call.args;
      const inside = name?.op === 'id' ? new Set([...names, name.args]) : names;
      for (const body of bodies) this.#add(body, depth + 1, inside);
      return;
    }
    if (call !== null) (call.name === 'size' ? this.#sizes : this.#texts).add(depth);
    else this.#addOperation(node, depth, names);
    for (const child of childrenOf(node)) this.#add(child, depth, names);
  }

  #addOperation(node: ASTNode, depth: number, names: ReadonlySet<string>): void {
    switch (node.op) {
      case 'list':
      case 'map': {
        const parts = childrenOf(node);
        this.#longestLiteral = Math.max(this.#longestLiteral, parts.length);
        this.#copies *= 1 + parts.filter((part) => part.op !== 'value').length;
        return;
      }
      case '+':
        this.#texts.add(depth);
        if (node.args.some(isLiteral)) return;
        this.#wholes.add(depth);
        this.#sums += 1;
        this.#copies *= 2;
        return;
      case '==':
      case '!=':
        this.#texts.add(depth);
        if (!node.args.some((side) => isLiteral(side) || this.#isPart(side, names))) this.#wholes.add(depth);
        return;
      case 'in': {
        const [, list] = node.args;
        this.#texts.add(depth);
        if (list.op !== 'list' && !this.#isPart(list, names)) this.#wholes.add(depth);
        return;
      }
      case '<':
      case '<=':
      case '>':
      case '>=':
        this.#texts.add(depth);
    }
  }

  /** Whether it is of the item that a loop is at: all items together are no more than the payload. */
  #isPart(node: ASTNode, names: ReadonlySet<string>): boolean {
    return !this.#makesLists && contains(node, ({ op, args }) => op === 'id' && names.has(args as string));
  }
}

function isLiteral(node: ASTNode): boolean {
  return node.op === 'value';
}
