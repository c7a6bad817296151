import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, dirname, sep } from 'node:path';
import ts from 'typescript';

/** One import, re-export, `import()` or `require()` of a file. */
export interface Import {
  /** Path below the root, with `/`: `engine/state/decide.ts`. */
  readonly file: string;
  readonly line: number;
  /** A file of ours, as `file` is; undefined where `library` is set. */
  readonly target?: string;
  /** What an outside import begins with: `typeorm`, `@nestjs/common`, `node:crypto`. */
  readonly library?: string;
  /** As written. */
  readonly specifier: string;
  /** Erased by the compiler: nothing of it is left in the JavaScript. */
  readonly typeOnly: boolean;
  /** `import()` and `require()`: loaded when that line runs, if ever. */
  readonly lazy: boolean;
  /** The names taken by value; empty for `* as`, side effects and `import()`, which take everything. */
  readonly names: readonly string[];
}

export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** Every TypeScript file below a folder, in the order of their paths. */
export function readSources(root: string): readonly SourceText[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: file.split(sep).join('/'), text: readFileSync(join(root, file), 'utf8') }))
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

export function parse({ file, text }: SourceText): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
}

export function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** All imports of a file, also those inside functions and inside types. */
export function importsOf(file: SourceText): readonly Import[] {
  const source = parse(file);
  const found: Import[] = [];
  const add = (
    node: ts.Node,
    specifier: string,
    how: Pick<Import, 'typeOnly' | 'lazy'> & { names?: string[] },
  ): void => {
    const target = specifier.startsWith('.') ? ourFile(file.file, specifier) : undefined;
    const where = target === undefined ? { library: libraryOf(specifier) } : { target };
    found.push({ file: file.file, line: lineOf(source, node), specifier, names: [], ...how, ...where });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node, textOf(node.moduleSpecifier), { ...bindings(node.importClause), lazy: false });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      add(node, textOf(node.moduleSpecifier), { ...reExports(node), lazy: false });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node, textOf(node.argument.literal), { typeOnly: true, lazy: false });
    } else if (ts.isCallExpression(node) && loadsModule(node)) {
      // A name that isn't written down can't be checked, so it stands as written and no table allows it.
      add(node, textOf(node.arguments[0] ?? node), { typeOnly: false, lazy: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function bindings(clause: ts.ImportClause | undefined): { typeOnly: boolean; names: string[] } {
  if (clause === undefined) return { typeOnly: false, names: [] };
  if (clause.isTypeOnly) return { typeOnly: true, names: [] };
  const named = clause.namedBindings;
  const elements = named !== undefined && ts.isNamedImports(named) ? named.elements : [];
  const names = elements.filter((element) => !element.isTypeOnly).map((element) => nameOf(element));
  if (clause.name !== undefined) names.push('default');
  const star = named !== undefined && ts.isNamespaceImport(named);
  return { typeOnly: !star && names.length === 0 && elements.length > 0, names: star ? [] : names };
}

function reExports(node: ts.ExportDeclaration): { typeOnly: boolean; names: string[] } {
  const clause = node.exportClause;
  const elements = clause !== undefined && ts.isNamedExports(clause) ? clause.elements : [];
  const names = elements.filter((element) => !element.isTypeOnly).map((element) => nameOf(element));
  return {
    typeOnly: node.isTypeOnly || (elements.length > 0 && names.length === 0),
    names: node.isTypeOnly ? [] : names,
  };
}

/** The name on the other side, whatever it is called here. */
function nameOf(element: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (element.propertyName ?? element.name).text;
}

function loadsModule(call: ts.CallExpression): boolean {
  const callee = call.expression;
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  return ts.isIdentifier(callee) && callee.text === 'require';
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : node.getText();
}

function ourFile(from: string, specifier: string): string {
  const path = relative('/', resolve('/', dirname(from), specifier));
  return path.split(sep).join('/').replace(/\.js$/, '.ts');
}

function libraryOf(specifier: string): string {
  if (!specifier.startsWith('@')) return specifier.split('/')[0]!;
  return specifier.split('/').slice(0, 2).join('/');
}
