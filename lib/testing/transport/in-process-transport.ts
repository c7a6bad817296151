import type { JobConsumer, JobMessage, JobTransport } from '../../engine/ports/index.js';
import { InProcessBroker } from './in-process-broker.js';

/**
 * A `JobTransport` without a broker outside: for tests of apps that use one, and as an example of an adapter. Transports on one
 * `InProcessBroker` stand for processes on one broker.
 *
 * What it carries is gone with the process; the engine sends it again. So apps lose nothing by it, and gain nothing either.
 *
 * @publicApi
 */
export class InProcessTransport implements JobTransport {
  readonly name = 'in-process';
  readonly #broker: InProcessBroker;
  readonly #handling = new Set<Promise<void>>();
  #consumer: JobConsumer | undefined;
  #unsubscribe: (() => void) | undefined;
  #stopped = false;

  constructor(broker: InProcessBroker = new InProcessBroker()) {
    this.#broker = broker;
  }

  async start(consumer: JobConsumer): Promise<void> {
    if (this.#consumer || this.#stopped) return;
    this.#consumer = consumer;
    this.#unsubscribe = this.#broker.onPut(() => this.#fill());
    this.#fill();
  }

  async send(messages: readonly JobMessage[]): Promise<void> {
    if (this.#stopped) throw new Error('The in-process transport is stopped.');
    this.#broker.put(messages);
  }

  async cancelByRun(runId: string): Promise<void> {
    this.#broker.removeRun(runId);
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe?.();
    await settledWithin(graceMs, this.#handling);
  }

  /** Takes messages while fewer are handled than may be. */
  #fill(): void {
    const consumer = this.#consumer;
    while (consumer && !this.#stopped && this.#handling.size < consumer.concurrency) {
      const message = this.#broker.take(consumer.queues);
      if (!message) return;
      const handling = this.#handle(consumer, message).finally(() => {
        this.#handling.delete(handling);
        this.#fill();
      });
      this.#handling.add(handling);
    }
  }

  async #handle({ handle }: JobConsumer, message: JobMessage): Promise<void> {
    // Not inside `send`: whoever sends need not wait for the first of its handler's work.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await handle(message);
    } catch {
      // It was not dealt with, and is dropped: the engine sends it again.
    }
  }
}

async function settledWithin(ms: number, promises: Iterable<Promise<void>>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([Promise.all(promises), over]);
  clearTimeout(timer);
}
