import ts from 'typescript';
import { lineOf, parse } from './imports.js';
import type { SourceText } from './imports.js';

/** Globals that answer differently at another time, or that reach out of the engine. */
const IMPURE = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'performance',
  'process',
  'crypto',
  'fetch',
  'console',
  'globalThis',
  'global',
  'require',
  'Temporal',
]);

/** What is left of `Date` without a clock and without the time zone of the process. */
const PURE_DATE_MEMBERS = new Set(['prototype', 'UTC', 'parse']);

/** Each use of a clock, a timer, randomness or the process in a file, as a sentence. */
export function impurities(file: SourceText): readonly string[] {
  const source = parse(file);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isIdentifier(node) && isUse(node) && isImpure(node)) {
      found.push(`${file.file}:${lineOf(source, node)} uses ${shown(node)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isImpure(node: ts.Identifier): boolean {
  if (IMPURE.has(node.text)) return true;
  if (node.text === 'Math') return member(node) === 'random' || member(node) === undefined;
  return node.text === 'Date' && !isPureDate(node);
}

function isPureDate(node: ts.Identifier): boolean {
  if (PURE_DATE_MEMBERS.has(member(node) ?? '')) return true;
  const parent = node.parent;
  return ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
}

/** `now` of `Date.now`; undefined where the object itself is taken. */
function member(node: ts.Identifier): string | undefined {
  const parent = node.parent;
  return ts.isPropertyAccessExpression(parent) && parent.expression === node ? parent.name.text : undefined;
}

function shown(node: ts.Identifier): string {
  if (ts.isNewExpression(node.parent)) return `new ${node.text}()`;
  const name = member(node);
  return name === undefined ? node.text : `${node.text}.${name}`;
}

/** Whether the identifier stands for a value in scope, rather than being the name of a property or of a declaration. */
function isUse(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  const { name } = parent as { name?: ts.Node };
  return name !== node || ts.isShorthandPropertyAssignment(parent);
}

/** Statements that run when a file is loaded, with an `await` in them: a CommonJS app could not `require` the package. */
export function topLevelAwaits(file: SourceText): readonly string[] {
  const source = parse(file);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    const awaits = ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined);
    if (awaits) found.push(`${file.file}:${lineOf(source, node)} awaits while it is loaded`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
