/**
 * Module hooks that let plain Node run the sources: `./x.js` finds `./x.ts`, the package's own name finds `lib/`, and
 * TypeScript is transpiled in memory by the compiler that Jest uses, with the same settings for decorators.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const root = new URL('../../', import.meta.url);
const own = new Map([
  ['nestjs-workflow-engine', new URL('lib/index.ts', root).href],
  ['nestjs-workflow-engine/testing', new URL('lib/testing/index.ts', root).href],
]);

export async function resolve(specifier, context, next) {
  const source = own.get(specifier);
  if (source !== undefined) return { url: source, shortCircuit: true };
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.startsWith(root.href)) {
    const typescript = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(typescript)) return { url: typescript.href, shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), {
    filename,
    configFile: false,
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'es6' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
