import { existsSync, readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { topLevelAwaits } from '../architecture/purity.js';
import { freshDatabase } from '../support/database.js';
import { run } from './command.js';
import { compileConsumer } from './consumer.js';
import type { Consumer, ModuleKind } from './consumer.js';
import { installHost } from './installation.js';
import { peerSets } from './peer-sets.js';
import { packTarball } from './tarball.js';
import type { Tarball } from './tarball.js';

const root = join(__dirname, '../..');
const sets = peerSets(root);
const complete = sets.filter((set) => set.complete);
const KINDS: readonly ModuleKind[] = ['ESM', 'CommonJS'];

/** npm may have to fetch a whole Nest, and the compiler reads all of it. */
const INSTALL_TIMEOUT_MS = 600_000;
const COMPILE_TIMEOUT_MS = 300_000;

const hosts = new Map<string, string>();
let tarball: Tarball;

beforeAll(async () => {
  tarball = await packTarball(root);
  // npm waits for the network most of the time.
  await Promise.all(sets.map(async (set) => hosts.set(set.name, await installHost(set, tarball))));
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  const folders = [...hosts.values(), ...(tarball ? [tarball.folder] : [])];
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
}, INSTALL_TIMEOUT_MS);

function installed(set = sets[0]!): string {
  return join(hosts.get(set.name)!, 'node_modules/nestjs-workflow-engine');
}

async function printed(consumer: Consumer, file: string, env: Record<string, string> = {}): Promise<unknown> {
  const out = await run(process.execPath, [join(consumer.out, file)], { cwd: consumer.out, env });
  return JSON.parse(out.trim().split('\n').at(-1)!);
}

describe('the tarball', () => {
  it('holds the build, the documents, and no sources', async () => {
    const files = (await readdir(installed(), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed().length + 1));
    expect(files).toEqual(expect.arrayContaining(['package.json', 'LICENSE', 'CHANGELOG.md', 'lib/README.md']));
    const strange = files.filter((file) => {
      const isBuilt = file.startsWith('dist/') && /\.(js|js\.map|d\.ts)$/.test(file);
      return (
        !isBuilt &&
        !file.startsWith('docs/') &&
        !/^(package\.json|LICENSE|CHANGELOG\.md|README\.md|lib\/.*README\.md)$/.test(file)
      );
    });
    expect(strange).toEqual([]);
  });

  it('holds every file that package.json names', () => {
    const manifest = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as Record<string, unknown>;
    const named = [manifest.main, manifest.types, manifest.bin, manifest.exports, manifest.typesVersions].flatMap(
      pathsIn,
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(installed(), path)))).toEqual([]);
  });

  it('is loaded without waiting', async () => {
    const dist = join(installed(), 'dist');
    const scripts = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(200);
    const texts = scripts.map((file) => ({ file, text: readFileSync(join(dist, file), 'utf8') }));
    expect(texts.flatMap(topLevelAwaits)).toEqual([]);
  });

  it('has a command that runs', async () => {
    const host = hosts.get(sets[0]!.name)!;
    const { bin } = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    const main = join(installed(), bin['nestjs-workflow-engine']!);
    expect(await run(process.execPath, [main, '--help'], { cwd: host })).toContain('nestjs-workflow-engine');
  });
});

describe.each(complete)('in an app with $name', (set) => {
  describe.each(KINDS)('%s', (kind) => {
    let consumer: Consumer;

    beforeAll(async () => {
      consumer = await compileConsumer(root, hosts.get(set.name)!, kind, 'app');
    }, COMPILE_TIMEOUT_MS);

    it('has types that resolve', () => {
      expect(consumer.complaints).toEqual([]);
    });

    it(
      'migrates, runs a workflow of two stages, and lets the process end',
      async () => {
        const database = await freshDatabase({ empty: true });
        const said = await printed(consumer, 'app.js', { APP_DATABASE_URL: database.url });
        expect(said).toEqual({
          created: true,
          output: { longest: 'long', owner: 'team-a' },
          status: 'COMPLETED',
          intervals: ['workflow-wake'],
          heard: ['handler run:completed', 'emitter run:completed'],
          tested: 'COMPLETED',
        });
      },
      COMPILE_TIMEOUT_MS,
    );
  });
});

describe.each(sets.filter((set) => set.node10))('in an app with $name and moduleResolution node10', (set) => {
  it(
    'has types that resolve',
    async () => {
      const options = { module: 'CommonJS', moduleResolution: 'node10', ignoreDeprecations: '6.0', noEmit: true };
      const { complaints } = await compileConsumer(root, hosts.get(set.name)!, 'CommonJS', 'app', options);
      expect(complaints).toEqual([]);
    },
    COMPILE_TIMEOUT_MS,
  );
});

describe.each(sets.filter((set) => !set.complete))('in an app with $name', (set) => {
  it.each(KINDS)(
    'is loaded by %s, and a missing driver is named at boot',
    async (kind) => {
      const consumer = await compileConsumer(root, hosts.get(set.name)!, kind, 'bare');
      expect(consumer.complaints).toEqual([]);
      const said = await printed(consumer, 'bare.js');
      expect(said).toMatchObject({ refusal: expect.stringMatching(/install pg\b/) });
    },
    COMPILE_TIMEOUT_MS,
  );
});

/** The paths inside a field of package.json, however deep. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Object.values((value ?? {}) as object).flatMap(pathsIn);
}
