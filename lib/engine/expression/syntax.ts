import type { ASTNode } from '@marcbachmann/cel-js';

/** A call in an expression, whichever way it is written: `size(event.a)` or `event.a.size()`. */
export interface Call {
  readonly name: string;
  readonly receiver: ASTNode | null;
  readonly args: readonly ASTNode[];
}

/** Calls that run their last argument for every item of a list, or every key of a map. */
const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

export function callOf(node: ASTNode): Call | null {
  if (node.op === 'call') return { name: node.args[0], receiver: null, args: node.args[1] };
  if (node.op === 'rcall') return { name: node.args[0], receiver: node.args[1], args: node.args[2] };
  return null;
}

export function isLoop(call: Call | null): call is Call & { readonly receiver: ASTNode } {
  return call !== null && call.receiver !== null && LOOPS.has(call.name);
}

export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case '!_':
    case '-_':
      return [node.args];
    case 'map':
      return node.args.flat();
    default:
      return node.args;
  }
}

export function isText(node: ASTNode | undefined): node is ASTNode & { readonly op: 'value'; readonly args: string } {
  return node?.op === 'value' && typeof node.args === 'string';
}

/** Whether it, or a part of it, is of a kind. */
export function contains(node: ASTNode, is: (node: ASTNode) => boolean): boolean {
  return is(node) || childrenOf(node).some((child) => contains(child, is));
}
