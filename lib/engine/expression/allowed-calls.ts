import type { ASTNode } from '@marcbachmann/cel-js';
import { EXPRESSION_LIMITS } from './expression-limits.js';
import { callOf, childrenOf, isText, type Call } from './syntax.js';

/** What is wrong, and where it begins. */
export interface ExpressionFault {
  readonly message: string;
  readonly at: number;
}

/**
 * The calls that an expression may make, and with how many arguments beside the receiver. What is missing takes time that
 * no limit here bounds (`matches` and its backtracking, `split`, `join`, `cel.bind`), or depends on the process's time zone.
 */
const ALLOWED: Readonly<Record<string, readonly number[]>> = {
  has: [1],
  output: [1],
  size: [0, 1],
  contains: [1],
  startsWith: [1],
  endsWith: [1],
  indexOf: [1, 2],
  lastIndexOf: [1, 2],
  substring: [1, 2],
  lowerAscii: [0],
  upperAscii: [0],
  trim: [0],
  all: [2],
  exists: [2],
  exists_one: [2],
  filter: [2],
  map: [2, 3],
  int: [1],
  double: [1],
  string: [1],
  bool: [1],
  dyn: [1],
  type: [1],
  timestamp: [1],
  duration: [1],
  getFullYear: [0],
  getMonth: [0],
  getDate: [0],
  getDayOfMonth: [0],
  getDayOfWeek: [0],
  getHours: [0],
  getMinutes: [0],
  getSeconds: [0],
  getMilliseconds: [0],
};

/** The first thing in an expression that is not offered, or null. */
export function findFault(node: ASTNode): ExpressionFault | null {
  const message = faultOf(node);
  // Of a method its name, not what it is called on.
  if (message !== null) return { message, at: node.op === 'rcall' ? node.args[1].end + 1 : node.pos };
  for (const child of childrenOf(node)) {
    const fault = findFault(child);
    if (fault !== null) return fault;
  }
  return null;
}

function faultOf(node: ASTNode): string | null {
  if (node.op === 'value') return typeof node.args === 'bigint' ? integerFault(node.args) : null;
  if (node.op === 'map' && node.args.some(([key]) => isText(key) && key.args === '__proto__'))
    return 'an object cannot be given the key "__proto__"';
  const call = callOf(node);
  return call === null ? null : callFault(call);
}

function integerFault(value: bigint): string | null {
  if (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) return null;
  return `the number ${value} is over 2^53, where the numbers of JSON are not exact; compare texts instead`;
}

function callFault({ name, args }: Call): string | null {
  const counts = Object.hasOwn(ALLOWED, name) ? ALLOWED[name]! : null;
  if (counts === null) return `there is no ${name}() here; there are: ${Object.keys(ALLOWED).join(', ')}`;
  if (!counts.includes(args.length)) return `${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`;
  const { maxDurationLength } = EXPRESSION_LIMITS;
  if (name === 'output' && !isText(args[0])) return `output() takes the id of a node, written out: output("review")`;
  if (name === 'duration' && !(isText(args[0]) && args[0].args.length <= maxDurationLength))
    return `duration() takes a text of at most ${maxDurationLength} characters, written out: duration("90m")`;
  return null;
}
