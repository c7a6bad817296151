import type { ASTNode } from '@marcbachmann/cel-js';
import { cleanText } from '../codec/clean-text.js';
import { readSafely } from '../codec/read-safely.js';
import { thrownMessage } from '../codec/thrown-text.js';
import { childrenOf } from './syntax.js';

const MAX_PROBLEM_LENGTH = 500;

export function shortProblem(problem: string): string {
  return cleanText(problem, MAX_PROBLEM_LENGTH);
}

/** Why an evaluation failed, in a sentence; of a field that is missing also the whole path to it. */
export function evaluationProblem(error: unknown, text: string, ast: ASTNode): string {
  // `summary` is the message without the drawing of the place.
  const summary = readSafely(error, 'summary');
  if (typeof summary !== 'string') return shortProblem(thrownMessage(error));
  const path = readSafely(error, 'code') === 'no_such_key' ? pathOf(error, text, ast) : undefined;
  return shortProblem(path === undefined ? summary : `${summary}, at ${path}; has(${path}) asks whether it is there`);
}

/** `event.order.total` for the field that was missing, as it stands in the text. */
function pathOf(error: unknown, text: string, ast: ASTNode): string | undefined {
  const end = readSafely(readSafely(error, 'range'), 'end');
  if (typeof end !== 'number') return undefined;
  const field = find(ast, (node) => node.op === '.' && node.end === end);
  return field && text.slice(field.start, field.end);
}

function find(node: ASTNode, is: (node: ASTNode) => boolean): ASTNode | undefined {
  if (is(node)) return node;
  for (const child of childrenOf(node)) {
    const found = find(child, is);
    if (found !== undefined) return found;
  }
  return undefined;
}
