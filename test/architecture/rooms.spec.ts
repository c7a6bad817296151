import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrowComplaints, circles, roomOf, spellingComplaints, unusedExceptions } from './arrows.js';
import { importsOf, parse, readSources } from './imports.js';
import type { Import } from './imports.js';
import { impurities, topLevelAwaits } from './purity.js';
import { APART, DOORS, FRAMEWORK, PLAIN_NEST_FILES, ROOMS, TAKEN_FOR_GRANTED } from './rooms.js';

const root = join(__dirname, '../../lib');
const sources = readSources(root);
const imports = sources.flatMap(importsOf);

/** Fewer means that the reader has gone blind, not that the package has shrunk. */
const FEWEST_FILES = 250;
const FEWEST_IMPORTS = 800;

/** A file that breaks a rule, as if it stood in `lib/`. */
const planted = (file: string, text: string): { file: string; imports: readonly Import[] } => {
  return { file, imports: importsOf({ file, text }) };
};
const complaintsAbout = (file: string, text: string): readonly string[] => {
  return arrowComplaints(ROOMS, [file], planted(file, text).imports);
};

describe('the reader', () => {
  it('sees the whole package', () => {
    expect(sources.length).toBeGreaterThan(FEWEST_FILES);
    expect(imports.length).toBeGreaterThan(FEWEST_IMPORTS);
    expect(new Set(sources.map(({ file }) => roomOf(ROOMS, file)))).toEqual(new Set(Object.keys(ROOMS)));
  });

  it('finds every kind of import', () => {
    const text = `
      import './a.js';
      import b, { c as d, type E } from '@scope/b/inner';
      import * as f from '../f.js';
      import type { G } from 'g';
      import { type H } from 'h';
      export { i } from './i.js';
      export type { J } from 'j';
      export * from '../k.js';
      type L = import('l').L;
      const m = () => import('m');
      const n = require('n');
    `;
    const seen = planted('engine/state/x.ts', text).imports;
    expect(seen.map(({ target, library }) => target ?? library)).toEqual([
      'engine/state/a.ts',
      '@scope/b',
      'engine/f.ts',
      'g',
      'h',
      'engine/state/i.ts',
      'j',
      'engine/k.ts',
      'l',
      'm',
      'n',
    ]);
    expect(seen.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier)).toEqual(['g', 'h', 'j', 'l']);
    expect(seen.filter(({ lazy }) => lazy).map(({ specifier }) => specifier)).toEqual(['m', 'n']);
    expect(seen[1]?.names).toEqual(['c', 'default']);
  });
});

describe('the rooms', () => {
  it('import along the arrows of the table only', () => {
    const files = sources.map(({ file }) => file);
    expect(arrowComplaints(ROOMS, files, imports)).toEqual([]);
  });

  it.each([
    ['a room that it may not see', 'runtime/x.ts', `import { a } from '../persistence/index.js';`],
    ['a room that it may not see, by type', 'engine/x.ts', `import type { A } from '../interfaces/index.js';`],
    ['Nest from the engine', 'engine/x.ts', `import { Injectable } from '@nestjs/common';`],
    ['a value where types are allowed', 'persistence/x.ts', `import { decide } from '../engine/state/decide.js';`],
    ['another name than the exception', 'engine/x.ts', `import { createHash, randomUUID } from 'node:crypto';`],
    ['everything behind an exception', 'engine/x.ts', `import * as crypto from 'node:crypto';`],
    ['an optional library at once', 'testing/postgres/x.ts', `import { Client } from 'pg';`],
    ['a library away from its door', 'services/x.ts', `import { EntityManager } from 'typeorm';`],
    ['a library inside a function', 'services/x.ts', `export const x = () => import('pg');`],
    ['a name made at run time', 'services/x.ts', `export const x = (name: string) => import(name);`],
    ['a folder that is no room', 'engine/x.ts', `import { a } from '../helpers/a.js';`],
  ])('may not import %s', (_what, file, text) => {
    expect(complaintsAbout(file, text)).toHaveLength(1);
  });

  it('hold every file', () => {
    expect(complaintsAbout('helpers/x.ts', '')).toEqual(['helpers/x.ts lies in no room']);
  });

  it('keep no exception that nobody needs', () => {
    expect(unusedExceptions(ROOMS, imports)).toEqual([]);
    expect(unusedExceptions({ a: { b: { kind: 'values', reason: 'once' } } }, [])).toEqual(['a → b']);
  });

  it('give each outside library one door', () => {
    const doors: Record<string, string[]> = {};
    for (const { file, library, typeOnly } of imports) {
      const room = roomOf(ROOMS, file)!;
      if (library === undefined || typeOnly || FRAMEWORK.includes(library) || library.startsWith('node:')) continue;
      if (APART.some((name) => room.startsWith(name))) continue;
      doors[library] = [...new Set([...(doors[library] ?? []), room])];
    }
    expect(doors).toEqual(DOORS);
  });

  it('show Nest by a dot-suffix', () => {
    const isExcused = (file: string): boolean => {
      return Object.keys(PLAIN_NEST_FILES).some((path) => file === path || file.startsWith(`${path}/`));
    };
    const plain = imports
      .filter(({ library, typeOnly }) => library?.startsWith('@nestjs/') === true && !typeOnly)
      .map(({ file }) => file)
      .filter((file) => !/\.\w+\.ts$/.test(file) && !isExcused(file));
    expect(plain).toEqual([]);
    expect(Object.keys(PLAIN_NEST_FILES).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('imports', () => {
  it('end in .js, and name the root of a package', () => {
    expect(spellingComplaints(imports)).toEqual([]);
  });

  it.each([
    [`import { a } from './a';`],
    [`import { a } from './a.ts';`],
    [`import { Injectable } from '@nestjs/common/decorators';`],
    [`import { map } from 'rxjs/operators';`],
  ])('are not written %s', (text) => {
    expect(spellingComplaints(planted('services/x.ts', text).imports)).toHaveLength(1);
  });

  it('run in no circle', () => {
    expect(circles(imports)).toEqual([]);
    const a = planted('a.ts', `import { b } from './b.js';`).imports;
    const b = planted('b.ts', `import { c } from './c.js';`).imports;
    const c = planted('c.ts', `export { b } from './b.js';`).imports;
    expect(circles([...a, ...b, ...c])).toEqual(['b.ts → c.ts → b.ts']);
  });

  it('name what a host installs, and need none of it that is optional', () => {
    const manifest = JSON.parse(readFileSync(join(root, '../package.json'), 'utf8')) as Manifest;
    const installed = { ...manifest.dependencies, ...manifest.peerDependencies };
    const libraries = imports.filter(({ library }) => library !== undefined && !library.startsWith('node:'));
    const at = ({ file, line, library }: Import): string => `${file}:${line} ${library}`;
    const isOptional = ({ file, library }: Import): boolean => {
      const granted = TAKEN_FOR_GRANTED[library!];
      return manifest.peerDependenciesMeta[library!]?.optional === true && granted !== roomOf(ROOMS, file);
    };
    expect(libraries.filter(({ library }) => !Object.hasOwn(installed, library!)).map(at)).toEqual([]);
    // By type too: a `.d.ts` that names a package which is not there doesn't compile in the host.
    expect(libraries.filter((entry) => isOptional(entry) && !entry.lazy).map(at)).toEqual([]);
  });
});

describe('the engine', () => {
  const engine = sources.filter(({ file }) => roomOf(ROOMS, file) === 'engine');

  it('has no clock, no timer and no randomness', () => {
    expect(engine.length).toBeGreaterThan(40);
    expect(engine.flatMap(impurities)).toEqual([]);
  });

  it.each([
    ['Date.now()'],
    ['new Date()'],
    ['new Date(5)'],
    ['Date()'],
    ['[Date]'],
    ['setTimeout(f, 1)'],
    ['setInterval(f, 1)'],
    ['setImmediate(f)'],
    ['{ setTimeout }'],
    ['Math.random()'],
    ['Math'],
    ['performance.now()'],
    ['process.env'],
    ['process["env"]'],
    ['crypto.randomUUID()'],
    ['globalThis.setTimeout'],
  ])('may not use %s', (use) => {
    expect(impurities({ file: 'engine/x.ts', text: `export const x = (f) => (${use});` })).toHaveLength(1);
  });

  it.each([
    ['Math.min(1, 2)'],
    ['Date.prototype.getTime.call(x)'],
    ['Date.UTC(2026, 0)'],
    ['x instanceof Date'],
    ['x.process'],
    ['{ process: x }'],
    ['x as Date'],
  ])('may use %s', (use) => {
    expect(impurities({ file: 'engine/x.ts', text: `export const y = (x) => (${use});` })).toEqual([]);
  });

  it('has ports that are types', () => {
    const ports = engine.filter(({ file }) => file.startsWith('engine/ports/'));
    expect(ports.length).toBeGreaterThan(5);
    const values = ports.flatMap((file) => [
      ...importsOf(file).filter(({ typeOnly }) => !typeOnly),
      ...parse(file).statements.filter((statement) =>
        /^export (default |async |abstract )*(const|let|function|class|enum)/.test(statement.getText()),
      ),
    ]);
    expect(values).toEqual([]);
  });
});

describe('every file', () => {
  it('is loaded without waiting, so that require() works', () => {
    expect(sources.flatMap(topLevelAwaits)).toEqual([]);
    const texts = ['await f();', 'for await (const x of y) f(x);', 'export const x = { y: await f() };'];
    expect(texts.flatMap((text) => topLevelAwaits({ file: 'x.ts', text }))).toHaveLength(3);
    expect(topLevelAwaits({ file: 'x.ts', text: 'async () => { await f(); };' })).toEqual([]);
  });
});

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}
