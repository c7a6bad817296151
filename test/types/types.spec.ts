import { dirname, join } from 'node:path';
import ts from 'typescript';

const HERE = __dirname;
const ROOT = join(HERE, '../..');
const DIRECTIVE = /^\s*\/\/ @ts-expect-error (.+)$/;

function compilerOptions(): ts.CompilerOptions {
  const path = join(ROOT, 'tsconfig.check.json');
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, dirname(path)).options, noEmit: true };
}

/** Errors by line of `file`, from 0, after `change` has been at its text. */
function errorsIn(file: string, change: (text: string) => string): Map<number, string> {
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (name) => {
    const text = readFile(name);
    return name.endsWith(`/test/types/${file}`) && text !== undefined ? change(text) : text;
  };
  host.getSourceFile = (name, languageVersion) => {
    const text = host.readFile(name);
    return text === undefined ? undefined : ts.createSourceFile(name, text, languageVersion);
  };
  const program = ts.createProgram([join(HERE, file)], options, host);
  const source = program.getSourceFile(join(HERE, file));
  if (source === undefined) throw new Error(`${file} was not read`);
  const found = new Map<number, string>();
  for (const { start, messageText } of program.getSemanticDiagnostics(source)) {
    const { line } = source.getLineAndCharacterOfPosition(start ?? 0);
    found.set(line, ts.flattenDiagnosticMessageText(messageText, '\n'));
  }
  return found;
}

const wrongUses = (ts.sys.readFile(join(HERE, 'wrong-uses.ts')) ?? '').split('\n').flatMap(
  (text, line) =>
    DIRECTIVE.exec(text)
      ?.slice(1)
      .map((title) => ({ title, line })) ?? [],
);

describe('the typed face', () => {
  let wrong: Map<number, string>;

  beforeAll(() => {
    wrong = errorsIn('wrong-uses.ts', (text) => text.replaceAll('@ts-expect-error', 'wrong:'));
  });

  it('DEF-2: right uses compile, and the types they infer are the expected ones', () => {
    expect([...errorsIn('right-uses.ts', (text) => text).values()]).toEqual([]);
  });

  it.each(wrongUses)('DEF-2: does not compile: $title', ({ line }) => {
    expect(wrong.get(line + 1)).toBeDefined();
  });

  it('DEF-2: the wrong uses fail where they say, and nowhere else', () => {
    expect(wrongUses.length).toBeGreaterThanOrEqual(18);
    expect([...wrong.keys()].sort((a, b) => a - b)).toEqual(wrongUses.map(({ line }) => line + 1));
  });

  it('DEF-2: a chain that does not fit says so in a sentence', () => {
    const line = wrongUses.find(({ title }) => title.startsWith('what precedes'))?.line ?? NaN;
    expect(wrong.get(line + 1)).toContain('The output before this stage does not fit its input');
  });

  it.each([
    ['WAIT-6: a stage that suspends itself for ever', 'suspends itself', 'has no checkCompletion'],
    ['STEP-1: a value that was never stored', 'a Date comes back', 'NotStorable<Date>'],
  ])('%s is told so in a sentence', (_, begins, sentence) => {
    const line = wrongUses.find(({ title }) => title.startsWith(begins))?.line ?? NaN;
    expect(wrong.get(line + 1)).toContain(sentence);
  });
});
