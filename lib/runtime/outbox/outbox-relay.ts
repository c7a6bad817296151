import type { OutboxRow, WorkflowStore } from '../../engine/ports/index.js';
import type { CompiledRetryPolicy } from '../../engine/retry/index.js';
import { nextTimerMs } from '../../engine/time/index.js';
import { BackgroundLoop } from '../background/background-loop.js';
import type { Outages } from '../background/outages.js';
import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import { within } from '../background/within.js';
import type { EventSink } from './relayed-event.js';
import { deliverRun, type RunDeliveryParts } from './run-delivery.js';

export interface OutboxRelayParts {
  readonly store: Pick<
    WorkflowStore,
    'leaseSlots' | 'releaseSlots' | 'readOutbox' | 'ackOutbox' | 'failOutbox' | 'discardOutbox' | 'isTransient'
  >;
  readonly sink: EventSink;
  /** Unique per process incarnation, as a worker's id. */
  readonly relayId: string;
  /** `outbox`: `maxAttempts` tries with its backoff between them, then dead letter. */
  readonly policy: CompiledRetryPolicy;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  readonly random: () => number;
}

/** All hash slots of run ids. */
const SLOTS = 16;
const SLOT_LEASE_MS = 30_000;
/** Rows in one page: of those that are delivered, and of those that nobody here hears. */
const PAGE = 200;
const DISCARD_PAGE = 5_000;
/** Runs whose events are delivered at once. */
const RUNS_AT_ONCE = 20;
const HANDLER_TIMEOUT_MS = 30_000;
/** Events wait so long for a process that hears: where none was seen for a day they are cleared away, a minute old. */
const UNHEARD = { olderThanMs: 60_000, unheardForMs: 86_400_000 };
/** A relay with listeners leaves its mark on the slots this often, also when nothing happens. */
const HEARING_MS = 3_600_000;
/** A relay with nothing left to do gives its slots back after this; one that got not all of them looks again after that. */
const IDLE_MS = 250;
const CONTENDED_MS = 500;

/**
 * Delivers what was written to the outbox to this process's handlers: after commit, at least once, in order per run
 * (EVT-1). Relays of many processes share the work by leases on hash slots of the run id.
 *
 * A process in which nothing listens leaves events to those that hear, which may be others, or the next deploy's. Only where
 * none was seen for long it clears them away, on the wake pass.
 *
 * Kicked whenever this process wrote events; the wake pass finds what no kick told of, so that a crash delays events by a
 * tick and a slot's lease, not more (fault J3).
 */
export class OutboxRelay {
  readonly #loop: BackgroundLoop;
  readonly #delivery: RunDeliveryParts;
  #kickTimer: NodeJS.Timeout | undefined;
  #kickAt = Infinity;
  #releaseTimer: NodeJS.Timeout | undefined;
  #releasing: Promise<void> | undefined;
  #leasedUntil = 0;
  #slots: readonly number[] = [];
  #flushed = 0;
  #stopped = true;

  constructor(private readonly parts: OutboxRelayParts) {
    const { store, sink, log, policy, random, outages } = parts;
    this.#delivery = { store, sink, log, policy, random, handlerTimeoutMs: HANDLER_TIMEOUT_MS };
    this.#loop = new BackgroundLoop({
      name: 'outbox relay',
      work: () => this.#work(),
      everyMs: null,
      isTransient: (error) => store.isTransient(error),
      outages,
      log,
    });
  }

  start(): void {
    this.#stopped = false;
    this.#loop.start();
    this.kick();
  }

  /** Events were written. Cheap: many kicks are one round. */
  kick(): void {
    if (!this.#stopped && this.parts.sink.hasListeners()) this.#loop.kick();
  }

  /** Delivers what is due now. Returns how many rows were delivered or cleared away. Never rejects. */
  async flush(): Promise<number> {
    const before = this.#flushed;
    await this.#loop.runOnce();
    return this.#flushed - before;
  }

  /** One round. Never rejects. */
  runOnce(): Promise<void> {
    return this.#loop.runOnce();
  }

  /** Finishes what is being delivered, within `graceMs`, and lets other relays take the slots. Never rejects. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#kickTimer);
    this.#kickAt = Infinity;
    if (!(await within(graceMs, this.#loop.stop()))) {
      this.parts.log.warn('Event handlers still run at shutdown; what they were given is delivered again.');
    }
    await within(graceMs, this.#release());
  }

  async #work(): Promise<void> {
    // A round and the release of what it works on must not cross: it would read nothing, and take that for the end.
    clearTimeout(this.#releaseTimer);
    await this.#releasing;
    if (!this.parts.sink.hasListeners()) return this.#discard();
    await this.#lease();
    this.#kickIn(this.#slots.length < SLOTS ? CONTENDED_MS : HEARING_MS);
    if (this.#slots.length === 0) return;
    await this.#deliver();
    if (this.#stopped) await this.#release();
    else this.#releaseIn(IDLE_MS);
  }

  async #deliver(): Promise<void> {
    const { store, relayId } = this.parts;
    for (;;) {
      const rows = await store.readOutbox(relayId, this.#slots, PAGE);
      if (rows.length === 0) return;
      await this.#deliverPage(rows);
      if (this.#stopped && rows.length < PAGE) return;
      await this.#lease();
    }
  }

  async #deliverPage(rows: readonly OutboxRow[]): Promise<void> {
    const runs = byRun(rows);
    const keepLeased = setInterval(() => void this.#leaseNow().catch(() => undefined), SLOT_LEASE_MS / 3);
    const done: string[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < runs.length) {
        const delivered = await deliverRun(runs[next++]!, this.#delivery);
        done.push(...delivered.done);
        if (delivered.retryInMs !== null) this.#kickIn(delivered.retryInMs);
      }
    };
    // All lanes to their end, also when one of them met an error: none may go on beside the next page.
    const lanes = await Promise.allSettled(Array.from({ length: RUNS_AT_ONCE }, lane));
    clearInterval(keepLeased);
    if (done.length > 0) await this.parts.store.ackOutbox(done);
    this.#flushed += done.length;
    for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
  }

  async #discard(): Promise<void> {
    const { store, relayId } = this.parts;
    // What it leased while something listened here, it would not get again.
    await this.#release();
    try {
      for (;;) {
        await this.#leaseNow(UNHEARD.unheardForMs);
        if (this.#slots.length === 0) return;
        const discarded = await store.discardOutbox(relayId, this.#slots, DISCARD_PAGE, UNHEARD);
        this.#flushed += discarded;
        if (discarded === 0) return;
      }
    } finally {
      await this.#release();
    }
  }

  /** Takes or keeps slots, where the last time is not recent. */
  async #lease(): Promise<void> {
    if (performance.now() < this.#leasedUntil - (SLOT_LEASE_MS * 2) / 3 && this.#slots.length === SLOTS) return;
    await this.#leaseNow();
  }

  async #leaseNow(unheardForMs?: number): Promise<void> {
    const { store, relayId } = this.parts;
    const from = performance.now();
    this.#slots = await store.leaseSlots(relayId, SLOT_LEASE_MS, SLOTS, unheardForMs);
    this.#leasedUntil = from + SLOT_LEASE_MS;
  }

  #release(): Promise<void> {
    clearTimeout(this.#releaseTimer);
    if (this.#slots.length === 0) return this.#releasing ?? Promise.resolve();
    this.#slots = [];
    this.#leasedUntil = 0;
    return (this.#releasing = this.#giveBack());
  }

  async #giveBack(): Promise<void> {
    try {
      await this.parts.store.releaseSlots(this.parts.relayId);
    } catch (error) {
      this.parts.log.debug(`Outbox slots could not be given back, their leases end: ${errorLine(error)}`);
    }
    this.#releasing = undefined;
  }

  /** Others must not wait for a lease that nobody uses. The next round calls it off. */
  #releaseIn(ms: number): void {
    clearTimeout(this.#releaseTimer);
    this.#releaseTimer = setTimeout(() => void this.#release(), ms);
  }

  #kickIn(ms: number): void {
    if (this.#stopped || performance.now() + ms >= this.#kickAt) return;
    clearTimeout(this.#kickTimer);
    this.#kickAt = performance.now() + ms;
    this.#kickTimer = setTimeout(() => {
      this.#kickAt = Infinity;
      this.kick();
    }, nextTimerMs(ms));
  }
}

/** Rows of each run, or definition, in their order; runs by their first row. */
function byRun(rows: readonly OutboxRow[]): (readonly OutboxRow[])[] {
  const runs = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const others = runs.get(row.seriesId);
    if (others) others.push(row);
    else runs.set(row.seriesId, [row]);
  }
  return [...runs.values()];
}
