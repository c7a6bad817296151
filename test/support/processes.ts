import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { registerOpen } from './open-resources.js';

/**
 * Real processes for tests that kill them.
 *
 * A process runs one TypeScript file of this repository, with its decorators, straight from the sources: plain Node
 * with `register-typescript.mjs`, no build. Both sides exchange messages, objects with a `type`:
 *
 * ```ts
 * // test/chaos/worker.process.ts
 * import { announce, onMessage } from '../support/process-side.js';
 * onMessage('go', async () => { …; announce('stage-entered', { node: 'a' }); });
 * announce('ready');
 *
 * // test/chaos/kill.spec.ts
 * const worker = forkProcess('test/chaos/worker.process.ts', { env: { DATABASE_URL: database.url } });
 * await worker.waitFor('ready');
 * worker.send('go');
 * await worker.waitFor('stage-entered');
 * await worker.kill();            // SIGKILL, resolves when it is gone
 * ```
 *
 * Nothing needs to be cleaned up: what still runs at the end of the file is killed, frozen or not.
 */
export interface TestProcess {
  readonly pid: number;
  /** What it printed so far, both streams; also part of the error when it ends too early. */
  readonly output: string;
  /** Sends a message of this type. */
  send(type: string, body?: object): void;
  /**
   * The next message of this type that nobody waited for yet, be it there already or to come. Rejects, with what the
   * process printed, when it ends first.
   */
  waitFor<T extends object = Record<string, unknown>>(type: string): Promise<T & { type: string }>;
  /** `kill -9`, unless another signal is given; resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<ProcessEnd>;
  /** Freezes it (SIGSTOP): its timers, heartbeats and connections stand still, its leases run out. */
  freeze(): void;
  /** Lets it go on (SIGCONT). */
  thaw(): void;
  /** Resolves when it ends by itself or by a signal. */
  readonly ended: Promise<ProcessEnd>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type Message = { type: string };

const REGISTER = pathToFileURL(resolve('test/support/register-typescript.mjs')).href;

/**
 * Starts a process.
 *
 * @param file TypeScript file, relative to the repository
 * @param options.env added to this process's environment
 */
export function forkProcess(
  file: string,
  options: Readonly<{ env?: NodeJS.ProcessEnv; args?: readonly string[] }> = {},
): TestProcess {
  const child = fork(resolve(file), [...(options.args ?? [])], {
    execArgv: ['--enable-source-maps', '--import', REGISTER],
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  return new ForkedProcess(child, file);
}

class ForkedProcess implements TestProcess {
  readonly ended: Promise<ProcessEnd>;
  output = '';
  private readonly unread: Message[] = [];
  private readonly waiting: { type: string; take(message: Message): void }[] = [];

  constructor(
    private readonly child: ChildProcess,
    private readonly file: string,
  ) {
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }) as ProcessEnd);
    const closed = registerOpen({ kind: 'process', name: file, close: () => this.kill(), automatic: true });
    this.ended.then(closed, closed);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    child.on('message', (message: Message) => this.receive(message));
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  send(type: string, body: object = {}): void {
    this.child.send({ ...body, type });
  }

  async waitFor<T extends object>(type: string): Promise<T & Message> {
    const index = this.unread.findIndex((message) => message.type === type);
    if (index >= 0) return this.unread.splice(index, 1)[0] as T & Message;
    const arrival = new Promise<Message>((take) => this.waiting.push({ type, take }));
    const tooEarly = this.ended.then(({ code, signal }) => {
      throw new Error(`${this.file} ended (${signal ?? code}) before "${type}". It printed:\n${this.output}`);
    });
    return (await Promise.race([arrival, tooEarly])) as T & Message;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<ProcessEnd> {
    this.child.kill(signal);
    return this.ended;
  }

  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  private receive(message: Message): void {
    const index = this.waiting.findIndex(({ type }) => type === message.type);
    const [waiter] = index >= 0 ? this.waiting.splice(index, 1) : [];
    if (waiter) waiter.take(message);
    else this.unread.push(message);
  }
}
