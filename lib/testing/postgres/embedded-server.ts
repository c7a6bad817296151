import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findLiveServer, initialiseDataFolder, readLogTail, removeStaleLock, takeCharge } from './data-folder.js';
import type { LiveServer } from './data-folder.js';
import { EmbeddedPostgresFailedError } from './embedded-postgres.errors.js';
import type { EmbeddedPostgres, EmbeddedPostgresOptions, ShutdownMode } from './embedded-postgres.js';
import { findFreePort } from './free-port.js';
import { watchOver } from './guardian.js';
import type { Guardian } from './guardian.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { run } from './run.js';
import type { RunFailure } from './run.js';
import type { ServerAccount } from './server-account.js';

/** Where a server keeps its data, and what goes when it stops. */
export interface DataPlace {
  readonly dataDir: string;
  /** The folder to remove with a throwaway server; undefined for a persistent one. */
  readonly disposable: string | undefined;
}

const LAUNCH_TRIES = 3;

/**
 * The server on one data folder: its life from start to stop.
 *
 * What it believes (port, pid) is read from the data folder after each start, never guessed.
 *
 * @internal
 */
export class EmbeddedServer implements EmbeddedPostgres {
  reused = false;
  private live: LiveServer = { pid: 0, port: 0 };
  private inCharge = true;
  private stopped = false;
  private guardian: Guardian | undefined;

  constructor(
    private readonly binaries: PostgresBinaries,
    private readonly account: ServerAccount,
    private readonly place: DataPlace,
    private readonly options: EmbeddedPostgresOptions,
  ) {}

  get dataDir(): string {
    return this.place.dataDir;
  }

  get port(): number {
    return this.live.port;
  }

  get pid(): number {
    return this.live.pid;
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${encodeURIComponent(database)}`;
  }

  async start(): Promise<void> {
    await initialiseDataFolder(this.binaries, this.dataDir, this.account);
    const running = await findLiveServer(this.dataDir);
    if (running) {
      this.live = running;
      this.reused = true;
    } else {
      await this.launchPatiently(this.options.port);
    }
    if (this.place.disposable === undefined) this.inCharge = await takeCharge(this.dataDir);
    else this.guardian = this.guard(this.place.disposable);
  }

  async stop(mode?: ShutdownMode): Promise<void> {
    if (this.stopped || (!this.inCharge && mode === undefined)) return;
    this.stopped = true;
    await this.halt(mode ?? 'fast');
    if (this.place.disposable === undefined) return;
    await rm(this.place.disposable, { recursive: true, force: true });
    this.guardian?.dismiss();
  }

  async restart(mode: ShutdownMode = 'fast'): Promise<void> {
    await this.halt(mode);
    await this.launchPatiently(this.port);
  }

  /** @param fixed the port to insist on; a free one is looked for otherwise */
  private async launchPatiently(fixed: number | undefined): Promise<void> {
    for (let tries = LAUNCH_TRIES; ; tries -= 1) {
      try {
        return await this.launch(fixed ?? (await findFreePort()));
      } catch (error) {
        // Somebody took the free port a moment before us, or started the same data folder, or the last of a killed
        // server's processes are still leaving.
        const other = await findLiveServer(this.dataDir);
        if (other) {
          this.live = other;
          this.reused = true;
          return;
        }
        if (tries <= 1) throw error;
      }
    }
  }

  private async launch(port: number): Promise<void> {
    const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...this.options.settings };
    const words = Object.entries(settings).map(([name, value]) => `-c ${quote(`${name}=${value}`)}`);
    const log = join(this.dataDir, 'server.log');
    await removeStaleLock(this.dataDir);
    try {
      await this.pgCtl('-w', '-t', '60', '-l', log, '-o', `-p ${port} ${words.join(' ')}`, 'start');
    } catch (error) {
      const { stdout, stderr } = error as RunFailure;
      const detail = `${stderr}${stdout}\n${await readLogTail(this.dataDir)}`.trim();
      throw new EmbeddedPostgresFailedError(`start in ${this.dataDir} on port ${port}`, detail, { cause: error });
    }
    const live = await findLiveServer(this.dataDir);
    if (live === undefined) {
      throw new EmbeddedPostgresFailedError(`start in ${this.dataDir}`, await readLogTail(this.dataDir));
    }
    this.live = live;
  }

  private async halt(mode: ShutdownMode): Promise<void> {
    try {
      await this.pgCtl('-m', mode, '-w', 'stop');
    } catch (error) {
      // Not running is what was asked for.
      if (await findLiveServer(this.dataDir)) {
        throw new EmbeddedPostgresFailedError(`stop in ${this.dataDir}`, (error as RunFailure).stderr, {
          cause: error,
        });
      }
    }
  }

  private guard(folder: string): Guardian {
    const pgCtl = join(this.binaries.bin, 'pg_ctl');
    return watchOver({ pgCtl, dataDir: this.dataDir, folder, account: this.account });
  }

  private pgCtl(...args: string[]): Promise<string> {
    const options = { account: this.account, cwd: dirname(this.binaries.bin) };
    return run(join(this.binaries.bin, 'pg_ctl'), ['-D', this.dataDir, ...args], options);
  }
}

/** pg_ctl hands its options to a shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
