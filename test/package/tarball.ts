import { cp, mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from './command.js';

export interface Tarball {
  readonly path: string;
  /** The folder that it was made from and lies in; the test removes it. */
  readonly folder: string;
}

/**
 * Builds the package as it is now and packs it as `npm publish` would.
 *
 * In a folder of its own: whoever builds in the checkout meanwhile is not disturbed, and nothing is in the package that
 * a build of last week left in `dist/`.
 */
export async function packTarball(root: string): Promise<Tarball> {
  const folder = await mkdtemp(join(tmpdir(), 'package-test-'));
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'docs']) {
    if (existsSync(join(root, name))) await cp(join(root, name), join(folder, name), { recursive: true });
  }
  for (const path of await readdir(join(root, 'lib'), { recursive: true })) {
    if (!path.endsWith('README.md')) continue;
    await mkdir(join(folder, 'lib', dirname(path)), { recursive: true });
    await cp(join(root, 'lib', path), join(folder, 'lib', path));
  }
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', 'tsconfig.json', '--outDir', join(folder, 'dist')], { cwd: root });
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: folder });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return { path: join(folder, filename), folder };
}
