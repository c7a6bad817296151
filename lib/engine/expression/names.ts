import type { ASTNode } from '@marcbachmann/cel-js';
import type { ExpressionFault } from './allowed-calls.js';
import { EXPRESSION_VARIABLES, type ExpressionScope, type ExpressionVariable } from './expression-scope.js';
import { callOf, childrenOf, isLoop, isText } from './syntax.js';

/** What an expression reads. */
export interface ExpressionUses {
  readonly variables: readonly ExpressionVariable[];
  /** The resolvers named by `approvers.…`, each once; `undefined` among them where the variable is used in another way. */
  readonly approvers: readonly (string | undefined)[];
  /** The texts of an expression that is nothing but a list of texts, else null. */
  readonly constantTexts: readonly string[] | null;
}

/** The first of our variables that is not there in this scope, or null. Names that are none of ours the library refuses. */
export function findForeign(ast: ASTNode, { variables, outputs }: ExpressionScope): ExpressionFault | null {
  let fault: ExpressionFault | null = null;
  visit(ast, NOTHING, (node, own) => {
    if (fault !== null) return;
    if (callOf(node)?.name === 'output' && !outputs) fault = { message: 'there is no output() here', at: node.pos };
    if (!isVariable(node) || own.has(node.args) || variables.includes(node.args)) return;
    const there = [...variables, ...(outputs ? ['output("node")'] : [])].join(', ') || 'nothing, write constants';
    fault = { message: `there is no ${node.args} here; there is: ${there}`, at: node.pos };
  });
  return fault;
}

export function usesOf(ast: ASTNode): ExpressionUses {
  const variables = new Set<ExpressionVariable>();
  const approvers = new Set<string | undefined>();
  const named = new Set<ASTNode>();
  visit(ast, NOTHING, (node, own) => {
    if (node.op === '.' && isVariable(node.args[0]) && node.args[0].args === 'approvers') {
      if (own.has('approvers')) return;
      named.add(node.args[0]);
      approvers.add(node.args[1]);
    }
    if (!isVariable(node) || own.has(node.args)) return;
    variables.add(node.args);
    if (node.args === 'approvers' && !named.has(node)) approvers.add(undefined);
  });
  const texts = ast.op === 'list' && ast.args.every(isText) ? ast.args.map((item) => String(item.args)) : null;
  return { variables: [...variables], approvers: [...approvers], constantTexts: texts };
}

const NOTHING: ReadonlySet<string> = new Set();

/** Parents before children; `own`: the names that loops around a node have given to their items. */
function visit(node: ASTNode, own: ReadonlySet<string>, see: (node: ASTNode, own: ReadonlySet<string>) => void): void {
  see(node, own);
  const call = callOf(node);
  if (!isLoop(call)) {
    for (const child of childrenOf(node)) visit(child, own, see);
    return;
  }
  visit(call.receiver, own, see);
  const [name, ...bodies] = call.args;
  const inside = name?.op === 'id' ? new Set([...own, name.args]) : own;
  for (const body of bodies) visit(body, inside, see);
}

function isVariable(node: ASTNode): node is ASTNode & { readonly op: 'id'; readonly args: ExpressionVariable } {
  return node.op === 'id' && (EXPRESSION_VARIABLES as readonly string[]).includes(node.args);
}
