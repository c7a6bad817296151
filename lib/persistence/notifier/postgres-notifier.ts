import { randomUUID } from 'node:crypto';
import type { Hint, Notifier } from '../../engine/ports/notifier.js';
import type { EnginePool, Statement } from '../engine-pool.js';
import { placeHash } from '../table-names.js';
import type { TableNames } from '../table-names.js';
import { warnByLogger } from '../data-source/warn.js';
import type { Warn } from '../data-source/warn.js';
import { ChannelListener } from './channel-listener.js';
import { HintPublisher } from './hint-publisher.js';
import { within } from './within.js';

export interface PostgresNotifierOptions {
  /** `false`: nothing is sent or heard, polling does it all; for poolers and replicas that can't LISTEN. @default true */
  readonly enabled?: boolean;
  /** Connection URL for LISTEN, when the DataSource's leads through a pooler in transaction mode. */
  readonly listenUrl?: string;
  /** How long the channel may be silent before it is tested, in milliseconds. @default 30_000 */
  readonly pingIntervalMs?: number;
  /** How long that test may take, in milliseconds. @default 10_000 */
  readonly pingTimeoutMs?: number;
  /** @default Nest's logger */
  readonly warn?: Warn;
}

/** A statement of its own, after commit: inside a transaction NOTIFY would serialise every commit of the database. */
const NOTIFY: Statement = {
  name: 'notify',
  text: 'SELECT pg_notify($1::text, payload) FROM unnest($2::text[]) AS payload',
};

const STOP_WAIT_MS = 2_000;

/**
 * Hints between the processes that use the same tables, by LISTEN and NOTIFY.
 *
 * Best effort by contract: nothing here ever throws or rejects, and a hint that gets lost costs a poll interval. Sends go
 * through the engine's pool, one at a time; hearing has a connection of its own.
 */
export class PostgresNotifier implements Notifier {
  private readonly channel: string;
  private readonly enabled: boolean;
  private readonly warn: Warn;
  private readonly listeners = new Set<(hint: Hint) => void>();
  private readonly publisher: HintPublisher;
  /** Own hints come back by LISTEN; each would cost an idle worker a claim that finds nothing. */
  private readonly self = randomUUID().slice(0, 8);
  private listener: ChannelListener | undefined;

  constructor(
    private readonly pool: EnginePool,
    names: TableNames,
    private readonly options: PostgresNotifierOptions = {},
  ) {
    this.enabled = options.enabled ?? true;
    this.warn = options.warn ?? warnByLogger('PostgresNotifier');
    this.channel = `workflow_${placeHash(names)}`;
    this.publisher = new HintPublisher(async (payloads) => {
      await this.pool.query(NOTIFY, [this.channel, payloads]);
    }, this.self);
  }

  publish(hint: Hint): void {
    if (this.enabled) this.publisher.publish(hint);
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Begins to listen; resolves after the first try, successful or not. Further calls change nothing. */
  async start(): Promise<void> {
    if (!this.enabled || this.listener) return;
    const { listenUrl, pingIntervalMs = 30_000, pingTimeoutMs = 10_000 } = this.options;
    this.listener = new ChannelListener({
      channel: this.channel,
      self: this.self,
      connect: () => this.pool.connectListener(listenUrl),
      onHint: (hint) => this.tell(hint),
      warn: this.warn,
      pingIntervalMs,
      pingTimeoutMs,
    });
    await this.listener.open();
  }

  /** Sends what is left, for two seconds at most, and stops listening. May be started again. */
  async stop(): Promise<void> {
    const { listener } = this;
    this.listener = undefined;
    await Promise.all([listener?.close(), within(STOP_WAIT_MS, this.publisher.settled())]);
  }

  private tell(hint: Hint): void {
    for (const listener of this.listeners) {
      try {
        listener(hint);
      } catch (error) {
        this.warn(`A receiver of hints threw: ${String(error)}`);
      }
    }
  }
}
