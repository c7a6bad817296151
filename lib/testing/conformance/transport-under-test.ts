import type { JobAnswer, JobConsumer, JobMessage, JobTransport } from '../../engine/ports/index.js';
import { newId } from './builders.js';

/** What an adapter gives the suite for each test: a broker that holds nothing yet, and two processes on it. */
export interface CreatedTransport {
  readonly transport: JobTransport;
  /** Another process on the same broker. */
  readonly second: JobTransport;
  /** Called after both were stopped: removes what the test left in the broker. */
  close(): Promise<void> | void;
}

const DONE: JobAnswer = { ghost: false, status: 'COMPLETED' };
/** Long enough for whatever a test waits for on purpose. */
const GRACE_MS = 20_000;

/** A promise that a test resolves by hand. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function newGate(): Gate {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

export function newMessage(given: Partial<JobMessage> = {}): JobMessage {
  const { kind = 'execute', attempt = 1, stageRunId = newId() } = given;
  const id = kind === 'cancel' ? `${stageRunId}:cancel:${attempt}` : `${stageRunId}:${attempt}`;
  return { id, kind, stageRunId, attempt, runId: newId(), queue: 'default', priority: 0, ...given };
}

/** Remembers what one process was given to handle, and lets a test wait for it. */
export class Handled {
  readonly messages: JobMessage[] = [];
  /** What the handler does before it answers. */
  during: (message: JobMessage) => Promise<void> | void = () => undefined;
  /** Handlers under way, and the most there were at once. */
  running = 0;
  most = 0;
  #waiting: { readonly ids: Set<string>; readonly resolve: () => void }[] = [];

  readonly handle = async (message: JobMessage): Promise<JobAnswer> => {
    this.messages.push(message);
    this.running++;
    this.most = Math.max(this.most, this.running);
    for (const { ids, resolve } of this.#waiting) if (ids.delete(message.id) && ids.size === 0) resolve();
    try {
      await this.during(message);
      return DONE;
    } finally {
      this.running--;
    }
  };

  /** How often a message came. */
  count({ id }: JobMessage): number {
    return this.messages.filter((message) => message.id === id).length;
  }

  /** Resolves when handling each of these has begun; again, with `anew`, for those that were handled before. */
  async begun(messages: readonly JobMessage[], anew = false): Promise<void> {
    const ids = new Set(messages.map(({ id }) => id));
    if (!anew) for (const { id } of this.messages) ids.delete(id);
    if (ids.size === 0) return;
    await new Promise<void>((resolve) => this.#waiting.push({ ids, resolve }));
  }
}

/** The transport of one test: two processes, each with what it was given. */
export class TransportUnderTest {
  readonly transport: JobTransport;
  readonly second: JobTransport;
  readonly handled = new Handled();
  readonly handledBySecond = new Handled();

  constructor(private readonly created: CreatedTransport) {
    this.transport = created.transport;
    this.second = created.second;
  }

  start(given: Partial<JobConsumer> = {}): Promise<void> {
    return this.transport.start({ handle: this.handled.handle, concurrency: 10, queues: null, ...given });
  }

  startSecond(given: Partial<JobConsumer> = {}): Promise<void> {
    return this.second.start({ handle: this.handledBySecond.handle, concurrency: 10, queues: null, ...given });
  }

  stop(graceMs = GRACE_MS): Promise<void> {
    return this.transport.stop(graceMs);
  }

  async close(): Promise<void> {
    await Promise.all([this.transport.stop(0), this.second.stop(0)]);
    await this.created.close();
  }
}
