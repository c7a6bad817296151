import { join } from 'node:path';
import ts from 'typescript';

/** What a host imports from, and the file behind it. */
export const ENTRIES: Readonly<Record<string, string>> = {
  'nestjs-workflow-engine': 'lib/index.ts',
  'nestjs-workflow-engine/testing': 'lib/testing/index.ts',
};

export interface PublicApi {
  /** One line an export with its kind, its public members below it. */
  readonly text: string;
  /** Exports whose comment says `@internal`: one of the two is wrong. */
  readonly internal: readonly string[];
}

/** Reads what the entries export, as the compiler sees it. */
export function readPublicApi(root: string): PublicApi {
  const files = Object.values(ENTRIES).map((file) => join(root, file));
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const lines: string[] = [];
  const internal: string[] = [];
  for (const [name, file] of Object.entries(ENTRIES)) {
    const source = program.getSourceFile(join(root, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing.`);
    lines.push(`# ${name}`, '');
    for (const exported of sortedByName(checker.getExportsOfModule(module))) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (symbol.declarations === undefined) throw new Error(`${file} exports ${exported.name}, which is not there.`);
      lines.push(`${kindOf(symbol)} ${exported.name}`, ...membersOf(checker, symbol).map((member) => `  ${member}`));
      if (isInternal(symbol, checker)) internal.push(`${exported.name} (${fileOf(root, symbol)})`);
    }
    lines.push('');
  }
  return { text: `${lines.join('\n').trimEnd()}\n`, internal };
}

function sortedByName(symbols: readonly ts.Symbol[]): readonly ts.Symbol[] {
  return [...symbols].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const KINDS: readonly (readonly [ts.SymbolFlags, string])[] = [
  [ts.SymbolFlags.Class, 'class'],
  [ts.SymbolFlags.Function, 'function'],
  [ts.SymbolFlags.Variable, 'const'],
  [ts.SymbolFlags.Enum, 'enum'],
  [ts.SymbolFlags.Interface, 'interface'],
  [ts.SymbolFlags.TypeAlias, 'type'],
];

function kindOf(symbol: ts.Symbol): string {
  return KINDS.find(([flag]) => symbol.flags & flag)?.[1] ?? 'value';
}

/** Members that stand in the declaration itself: an error class does not repeat those of its base. */
function membersOf(checker: ts.TypeChecker, symbol: ts.Symbol): readonly string[] {
  if (!(symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface))) return [];
  const own = [...(symbol.members?.values() ?? [])].filter(isPublicMember).map((member) => shownMember(member));
  const statics = [...(symbol.exports?.values() ?? [])].filter(isPublicMember).map((member) => `static ${member.name}`);
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  return [...statics.sort(), ...[...own].sort(), ...(type.getCallSignatures().length > 0 ? ['()'] : [])];
}

function shownMember(member: ts.Symbol): string {
  return member.flags & ts.SymbolFlags.Optional ? `${member.name}?` : member.name;
}

const MEMBER = ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor;

function isPublicMember(member: ts.Symbol): boolean {
  if (!(member.flags & MEMBER) || member.name.startsWith('__') || member.name === 'prototype') return false;
  return (member.declarations ?? []).some((declaration) => {
    const hidden = ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
    const { name } = declaration as ts.NamedDeclaration;
    return !hidden && !(name && ts.isPrivateIdentifier(name)) && !tagsOf(declaration).includes('internal');
  });
}

function isInternal(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  return symbol.getJsDocTags(checker).some(({ name }) => name === 'internal');
}

function tagsOf(node: ts.Node): readonly string[] {
  return ts.getJSDocTags(node).map(({ tagName }) => tagName.text);
}

function fileOf(root: string, symbol: ts.Symbol): string {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? 'nowhere';
  return file.startsWith(root) ? file.slice(root.length + 1) : file;
}
