import type { ASTNode } from '@marcbachmann/cel-js';
import { readSafely } from '../codec/read-safely.js';
import { OBJECT } from './cel-environment.js';
import { callOf } from './syntax.js';

/** What the checker took a part of an expression for. */
interface Taken {
  readonly name: string;
  readonly kind: unknown;
  readonly items: string | undefined;
  readonly keys: string | undefined;
}

/**
 * Whether a complaint of the type checker is about something that runs all the same. Evaluating, the library takes objects for maps
 * and lists for lists of anything, compares whatever there is with null, and gives either value of `a ? b : c`; checked against
 * types that are known, it does none of it.
 */
export function isStricterThanRuns(error: unknown): boolean {
  const node = readSafely(error, 'node') as ASTNode | undefined;
  switch (readSafely(error, 'code')) {
    case 'incompatible_ternary_branches':
    case 'invalid_index_type':
      return true;
    case 'invalid_comprehension_range':
      return isObject(takenFor(node));
    case 'no_matching_overload':
      return isSizeOfObject(node);
    case 'no_such_overload':
      return node !== undefined && isOfWholes(node);
    default:
      return false;
  }
}

/** `input.order == null`, `input.order == {"a": 1}`, `"a" in input.order`, `input.amounts + [1]` */
function isOfWholes(node: ASTNode): boolean {
  if (node.op !== '==' && node.op !== '!=' && node.op !== '+' && node.op !== 'in') return false;
  const left = takenFor(node.args[0]);
  const right = takenFor(node.args[1]);
  if (node.op === 'in')
    return isObject(right) || (isWhole(left) && isList(right)) || right?.items === 'null' || isNumberAmong(left, right);
  if (isList(left) && isList(right)) return true;
  if (node.op === '+') return false;
  return isNull(left) || isNull(right) || (isWholeOrOpen(left) && isWholeOrOpen(right));
}

function isSizeOfObject(node: ASTNode | undefined): boolean {
  const call = node === undefined ? null : callOf(node);
  return call?.name === 'size' && isObject(takenFor(call.receiver ?? call.args[0]));
}

/** `input.amount in [1, 2]` */
function isNumberAmong(number: Taken | undefined, whole: Taken | undefined): boolean {
  const among = isList(whole) ? whole?.items : whole?.keys;
  return NUMBERS.includes(number?.name) && NUMBERS.includes(among);
}

const NUMBERS: readonly (string | undefined)[] = ['int', 'double'];

const isList = (taken: Taken | undefined): boolean => taken?.kind === 'list';
const isObject = (taken: Taken | undefined): boolean => taken !== undefined && taken.name.startsWith(OBJECT);
const isWhole = (taken: Taken | undefined): boolean => isList(taken) || taken?.kind === 'map' || isObject(taken);
const isWholeOrOpen = (taken: Taken | undefined): boolean => isWhole(taken) || taken?.kind === 'dyn';
const isNull = (taken: Taken | undefined): boolean => taken?.name === 'null';

/** The checker leaves its types where it found them. */
function takenFor(node: ASTNode | undefined): Taken | undefined {
  const type = readSafely(node, 'checkedType');
  const name = nameOf(type);
  if (name === undefined) return undefined;
  const [kind, items, keys] = [readSafely(type, 'kind'), readSafely(type, 'valueType'), readSafely(type, 'keyType')];
  return { name, kind, items: nameOf(items), keys: nameOf(keys) };
}

function nameOf(type: unknown): string | undefined {
  const name = readSafely(type, 'name');
  return typeof name === 'string' ? name : undefined;
}
