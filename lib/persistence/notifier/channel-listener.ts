import { randomUUID } from 'node:crypto';
import type { PostgresClient } from '../engine-pool.js';
import type { Warn } from '../data-source/warn.js';
import { within } from './within.js';
import { decodePayload, encodePing } from './hint-payload.js';
import type { Hint } from '../../engine/ports/notifier.js';

export interface ChannelListenerOptions {
  readonly channel: string;
  /** Sender whose hints are not passed on: this process's own, which it has acted on already. */
  readonly self?: string;
  /** A new connection that can LISTEN. */
  readonly connect: () => Promise<PostgresClient>;
  readonly onHint: (hint: Hint) => void;
  readonly warn: Warn;
  /** How long the channel may be silent before a message to oneself is sent through it. */
  readonly pingIntervalMs: number;
  /** How long that message may take. */
  readonly pingTimeoutMs: number;
}

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;
const CLOSE_WAIT_MS = 1_000;

/**
 * Keeps one connection listening on a channel, for as long as it isn't closed.
 *
 * A connection that ends, can't be made, or is silent (half-open, or its LISTEN got lost: faults G2, K13) is replaced, with
 * growing pauses, for ever. Each time it listens anew it says `{ work: true }`: hints may have been missed.
 */
export class ChannelListener {
  private client: PostgresClient | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private closed = false;
  private opening: Promise<void> = Promise.resolve();
  private heard = false;
  private readonly id = randomUUID();

  constructor(private readonly options: ChannelListenerOptions) {}

  /** Connects, once. Resolves also when that failed: more tries follow by themselves. */
  open(): Promise<void> {
    return (this.opening = this.connect());
  }

  /** Stops listening, after a second at most; a connection that is being made is closed when it is there. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    const { client } = this;
    this.client = undefined;
    await within(CLOSE_WAIT_MS, Promise.all([client?.end().catch(() => undefined), this.opening]));
  }

  private async connect(): Promise<void> {
    let client: PostgresClient | undefined;
    try {
      client = await this.options.connect();
      await this.listen(client);
    } catch (error) {
      this.lose(client, String(error));
    }
  }

  private async listen(client: PostgresClient): Promise<void> {
    if (this.closed) return void (await client.end());
    this.client = client;
    let reason = 'it ended';
    client.on('error', (error) => (reason = String(error)));
    client.on('end', () => this.lose(client, reason));
    client.on('notification', ({ channel, payload }) => {
      if (channel === this.options.channel) this.receive(payload);
    });
    await client.query({ text: `LISTEN "${this.options.channel}"` });
    if (this.failures > 0) this.options.warn('Hints between processes are heard again.');
    this.failures = 0;
    this.watch(client);
    this.tell({ work: true });
  }

  /** A long silence is tested by a message to oneself; anything heard proves that the channel lives. */
  private watch(client: PostgresClient): void {
    this.heard = false;
    this.after(this.options.pingIntervalMs, () => {
      if (this.heard) return this.watch(client);
      this.after(this.options.pingTimeoutMs, () => {
        if (this.heard) return this.watch(client);
        this.lose(client, 'nothing comes through it');
      });
      const ping = { text: 'SELECT pg_notify($1, $2)', values: [this.options.channel, encodePing(this.id)] };
      client.query(ping).catch((error: unknown) => this.lose(client, String(error)));
    });
  }

  private receive(payload: string | undefined): void {
    this.heard = true;
    const message = decodePayload(payload);
    if (message && 'hint' in message && (!message.sender || message.sender !== this.options.self))
      this.tell(message.hint);
  }

  private tell(hint: Hint): void {
    if (!this.closed) this.options.onHint(hint);
  }

  /** Gives a connection up and plans the next one; does nothing for one that was given up before. */
  private lose(client: PostgresClient | undefined, reason: string): void {
    if (this.closed || this.client !== client) return;
    this.client = undefined;
    // Not awaited: with a half-open connection it might never answer.
    client?.end().catch(() => undefined);
    if (this.failures === 0)
      this.options.warn(`The connection that hears hints was lost (${reason}). Polling goes on.`);
    const pause = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(this.failures, 20), MAX_BACKOFF_MS);
    this.failures += 1;
    // Spread out, so that a whole fleet doesn't come back in the same instant.
    this.after(pause * (0.5 + Math.random() / 2), () => void this.open());
  }

  private after(ms: number, then: () => void): void {
    clearTimeout(this.timer);
    if (!this.closed) this.timer = setTimeout(then, ms);
  }
}
