// Builds the package and the samples where their sources are newer, then runs one sample: node sample/support/run.mjs <sample> [options]
// Samples import the package by its name, as an app does: Node resolves that to this package's own `exports`, so to dist/.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const samples = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(samples);
const require = createRequire(import.meta.url);

const STAMP = join(samples, 'dist', '.built');

/** The newest change of a source below a folder, in ms; built folders left out. */
function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return /\.(ts|json)$/.test(path) ? stats.mtimeMs : 0;
  const names = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules');
  return Math.max(0, ...names.map((name) => newest(join(path, name))));
}

function isOlder(built, ...sources) {
  return !existsSync(built) || statSync(built).mtimeMs < Math.max(...sources.map(newest));
}

function run(tool, ...args) {
  execFileSync(process.execPath, [tool, ...args], { cwd: root, stdio: 'inherit' });
}

function build() {
  const configuration = [join(root, 'tsconfig.json'), join(root, 'package.json')];
  // The stamp is written last: a build that failed half-way left files, and is done again.
  const packageIsOlder =
    isOlder(STAMP, join(root, 'lib'), ...configuration) || !existsSync(join(root, 'dist', 'index.js'));
  if (!packageIsOlder && !isOlder(STAMP, samples)) return;
  if (packageIsOlder) {
    console.log('Building the package …');
    run(require.resolve('@nestjs/cli/bin/nest.js'), 'build');
  }
  console.log('Building the samples …');
  run(require.resolve('typescript/bin/tsc'), '-p', join(samples, 'tsconfig.json'));
  writeFileSync(STAMP, '');
}

const [sample, ...options] = process.argv.slice(2);
const names = readdirSync(samples).filter((name) => /^\d\d-/.test(name));
if (!names.includes(sample)) {
  console.error(
    `Which sample? One of: ${names.join(', ')}. For instance: node ${relative(process.cwd(), fileURLToPath(import.meta.url))} ${names[0]}`,
  );
  process.exit(2);
}
try {
  build();
} catch {
  // The compiler has said what is wrong.
  process.exit(1);
}
const main = join(samples, 'dist', sample, 'main.js');
// In this very process, so that Ctrl-C reaches the app once and nothing in between.
process.argv = [process.argv[0], main, ...options];
await import(pathToFileURL(main).href);
