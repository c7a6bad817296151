#!/usr/bin/env node
/**
 * `npm run spec`: holds docs/specification.md against the titles of the tests.
 *
 * Exits 1 when an id under "Built so far" has no test, or when a test's title begins with an id that the specification
 * lacks. Reads files only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const specification = readFileSync(join(root, 'docs/specification.md'), 'utf8');
const ID = /\b[A-Z]{2,9}-\d+\b/g;

const known = new Set([...specification.matchAll(ID)].map(([id]) => id));
const built = new Set(
  [...(specification.match(/<!-- built -->([\s\S]*?)<!-- \/built -->/)?.[1] ?? '').matchAll(ID)].map(([id]) => id),
);

const proven = new Map();
const unknown = [];
for (const folder of ['test', 'lib/testing/conformance']) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(join(root, folder, file), 'utf8');
    for (const [, title] of text.matchAll(/\b(?:it|test)(?:\.each\([^]*?\))?\(\s*['"`]([^'"`]*)/g)) {
      const ids = /^[A-Z][A-Z0-9, -]*:/.exec(title)?.[0] ?? '';
      for (const id of ids.match(ID) ?? []) {
        if (known.has(id)) proven.set(id, (proven.get(id) ?? 0) + 1);
        else unknown.push(`${folder}/${file}: ${title}`);
      }
    }
  }
}

const missing = [...built].filter((id) => !proven.has(id));
for (const id of missing) console.log(`no test: ${id}`);
for (const title of unknown) console.log(`unknown id: ${title}`);
console.log(
  `${built.size} ids built, ${built.size - missing.length} with tests; ${known.size} ids in the specification.`,
);
process.exitCode = missing.length + unknown.length > 0 ? 1 : 0;
