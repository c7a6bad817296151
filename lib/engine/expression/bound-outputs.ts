import type { ASTNode } from '@marcbachmann/cel-js';
import type { ExpressionFault } from './allowed-calls.js';
import { callOf, childrenOf, isText } from './syntax.js';

/** More than an expression can have calls. */
export const MAX_OUTPUTS = 250;

const BOUND = /^_o\d+$/;

/** What stands for the output of a node inside the library: `has()` takes variables, and no calls. */
export function boundName(at: number): string {
  return `_o${at}`;
}

/** A text in which every `output("node")` is a variable, at the same places; `outputs` in the order of their names. */
export interface BoundText {
  readonly text: string;
  readonly outputs: readonly string[];
}

/**
 * Puts a variable of ours in place of each `output("node")`, filled up with blanks, so that every place stays what it is.
 *
 * @param nameOf the variable of a node, or of the output that is met as the nth: one of `boundName`
 */
export function bindOutputs(
  text: string,
  ast: ASTNode,
  nameOf: (node: string, at: number) => string = (_node, at) => boundName(at),
): BoundText | ExpressionFault {
  const outputs: string[] = [];
  let bound = text;
  let fault: ExpressionFault | null = null;
  const visit = (node: ASTNode): void => {
    if (node.op === 'id' && BOUND.test(node.args))
      fault ??= { message: `the name ${node.args} is taken`, at: node.pos };
    const call = callOf(node);
    const name = call?.args[0];
    if (call?.name === 'output' && isText(name)) {
      if (!outputs.includes(name.args)) outputs.push(name.args);
      const { start, end } = node;
      bound =
        bound.slice(0, start) + nameOf(name.args, outputs.indexOf(name.args)).padEnd(end - start) + bound.slice(end);
    }
    childrenOf(node).forEach(visit);
  };
  visit(ast);
  return fault ?? { text: bound, outputs };
}
