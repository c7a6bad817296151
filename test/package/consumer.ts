import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.js';

/** How a host's files are loaded: by `import`, or by `require`. */
export type ModuleKind = 'ESM' | 'CommonJS';

const COMPILER = {
  target: 'ES2022',
  lib: ['ES2023'],
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: ['node'],
  rootDir: 'src',
  outDir: 'out',
};

export interface Consumer {
  /** Folder of the compiled files. */
  readonly out: string;
  /** What the compiler says of its files and of our declarations. */
  readonly complaints: readonly string[];
}

/** Compiles a fixture in a host's folder, as a package of the given kind. */
export async function compileConsumer(
  root: string,
  host: string,
  kind: ModuleKind,
  fixture: string,
  options: Readonly<Record<string, unknown>> = {},
): Promise<Consumer> {
  const folder = join(host, `${kind}-${fixture}${options.module ? `-${String(options.module)}` : ''}`);
  await mkdir(join(folder, 'src'), { recursive: true });
  await cp(join(root, 'test/package/fixtures', `${fixture}.ts`), join(folder, 'src', `${fixture}.ts`));
  const type = kind === 'ESM' ? 'module' : 'commonjs';
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type }));
  // Our declarations are checked in the host, with what the host has. They are ES modules for whoever loads them, so
  // once is enough for each way of finding them; it takes the compiler through all of Nest and TypeORM.
  const skipLibCheck = kind === 'CommonJS' && options.moduleResolution === undefined;
  const compilerOptions = { ...COMPILER, skipLibCheck, ...options };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], { cwd: folder }).catch(String);
  return { out: join(folder, 'out'), complaints: said.split('\n').filter(isOurs) };
}

/** Other packages' declarations are their own affair. */
function isOurs(line: string): boolean {
  if (!/error TS\d+/.test(line)) return false;
  const path = line.split('(')[0] ?? '';
  return !path.includes('node_modules') || path.includes('node_modules/nestjs-workflow-engine/');
}
