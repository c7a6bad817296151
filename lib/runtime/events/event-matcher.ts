import { decodeJson } from '../../engine/codec/index.js';
import { compileCondition, EventValue } from '../../engine/expression/index.js';
import type { Cursor, EventMatch, EventWait, StoredEvent, WaitPlace, WorkflowStore } from '../../engine/ports/index.js';
import { Lanes } from '../background/lanes.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';

export interface EventMatcherParts {
  readonly store: Pick<
    WorkflowStore,
    | 'findWaits'
    | 'findEvents'
    | 'fireEvents'
    | 'unmatchedEvents'
    | 'markMatched'
    | 'uncheckedWaits'
    | 'markChecked'
    | 'overdueEventWaits'
    | 'fireTimeouts'
    | 'now'
    | 'isTransient'
  >;
  /** Starts runs for an event. False: some have to be tried again. */
  readonly startTriggered: (event: StoredEvent) => Promise<boolean>;
  /** Stage runs go on: jobs became due. */
  readonly onResumed: (stageRuns: number) => void;
  readonly outages: Outages;
  readonly pauses: Pauses;
  readonly log: RuntimeLog;
  /** Rows of one kind in one statement. */
  readonly batch: number;
}

/** Runs whose lock somebody else holds are tried again so often, after so long; then the wake pass finds them. */
const BUSY_TRIES = 5;
const BUSY_PAUSE_MS = 20;
/** What is younger than this is somebody's who is at it. */
const SWEEP_AFTER_MS = 5_000;
/** Pages of events, and of waits, that one sweep goes through: the rest of a wake pass waits for it. */
const SWEEP_PAGES = 10;

/** Matchings of single events and stage runs at once: connections are left to those who claim and record. */
const LANES = 2;

interface AskedSweep {
  afterMs: number;
  done?: Promise<number>;
}

interface MatchedWaits {
  readonly fired: number;
  /** There is an event for them, and the run was locked by somebody. */
  readonly busy: ReadonlySet<EventWait>;
  /** Whether there is one could not be told for now. */
  readonly later: ReadonlySet<EventWait>;
}

export interface TimedOut {
  readonly timeouts: number;
  /** Some are locked by somebody: they come again. */
  readonly busy: boolean;
}

/**
 * Brings events and waits together, each in a transaction of its own after both are committed, from both sides: whoever
 * stored an event looks for waits, whoever stored a wait looks for events, and the wake pass does both for those who
 * died over it. So that no order of the two loses one, and no number of lookers delivers it twice (protocols, section 6).
 */
export class EventMatcher {
  readonly #lanes = new Lanes(LANES);
  readonly #sweeps = new Lanes(1);
  /** Waits for its turn. */
  #nextSweep: AskedSweep | undefined;
  #sweptTo: Cursor = null;
  #checkedTo: WaitPlace | undefined;
  #stopped = false;

  constructor(private readonly parts: EventMatcherParts) {}

  /** Begins nothing more, and resolves when what is under way has ended. What was not begun the wake pass of others finds. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#lanes.idle(), this.#sweeps.idle()]);
  }

  /** An event was stored: ends the waits that it is for. Rejects with what the store throws. Returns how many. */
  matchEvent(event: StoredEvent): Promise<number> {
    return this.#lanes.run(async () => (this.#stopped ? 0 : this.#matchEvent(event)));
  }

  async #matchEvent(event: StoredEvent): Promise<number> {
    const { store, batch } = this.parts;
    // Read once, for however many conditions.
    const payload = valueOf(event);
    let fired = 0;
    let complete = true;
    let after: Cursor = null;
    do {
      const page: { waits: EventWait[]; next: Cursor } = await store.findWaits(event, after, batch);
      const matches = page.waits
        .filter((wait) => !wait.overdue && this.#holds(wait, payload))
        .map(({ runId, stageRunId, key }) => ({ runId, stageRunId, key, eventId: event.id }));
      const done = await this.#fire(matches);
      fired += done.fired;
      complete &&= done.complete;
      after = page.next;
    } while (after !== null);
    complete = (await this.parts.startTriggered(event)) && complete;
    // What was busy is left to the wake pass, which comes back as long as this event counts as unmatched.
    if (complete) await store.markMatched([event.id]);
    return fired;
  }

  /** Stage runs wait since a moment ago: ends those of their waits that stored events are for. Never rejects. */
  async matchStageRuns(stageRunIds: readonly string[]): Promise<void> {
    const { store, outages, log } = this.parts;
    try {
      await this.#lanes.run(() => this.#matchStageRuns(stageRunIds));
      outages.recovered('matching events');
    } catch (error) {
      // The wake pass finds them.
      if (store.isTransient(error)) outages.failed('matching events', error);
      else log.error(`Matching waits with events failed: ${errorLine(error)}`, errorStack(error));
    }
  }

  /**
   * What those left behind who died between storing and matching, and what was busy. One at a time: who asks while another waits for
   * its turn is served by that one. Rejects with what the store throws. Returns how many waits it ended.
   */
  sweep(afterMs = SWEEP_AFTER_MS): Promise<number> {
    const next = this.#nextSweep;
    if (next?.done) {
      next.afterMs = Math.min(next.afterMs, afterMs);
      return next.done;
    }
    const asked: AskedSweep = { afterMs };
    this.#nextSweep = asked;
    asked.done = this.#sweeps.run(() => {
      this.#nextSweep = undefined;
      return this.#sweep(asked.afterMs);
    });
    return asked.done;
  }

  async #sweep(afterMs: number): Promise<number> {
    return (await this.#sweepEvents(afterMs)) + (await this.#sweepWaits(afterMs));
  }

  /**
   * All of them, page by page; a sweep of many goes on where the last one left off, since those that stay unmatched for now would
   * be in the way of all that came later.
   */
  async #sweepEvents(afterMs: number): Promise<number> {
    const { store, batch } = this.parts;
    let matched = 0;
    for (let pages = 0; pages < SWEEP_PAGES && !this.#stopped; pages++) {
      const { events, next } = await store.unmatchedEvents(afterMs, this.#sweptTo, batch);
      for (const event of events) {
        if (this.#stopped) return matched;
        const fired = await this.#guarded(`Matching event ${event.id}`, () => this.#matchEvent(event));
        if (typeof fired === 'number') matched += fired;
      }
      this.#sweptTo = next;
      if (next === null) break;
    }
    return matched;
  }

  /** In the same manner: those that can't be looked up are in nobody's way. */
  async #sweepWaits(olderThanMs: number): Promise<number> {
    const { store, batch } = this.parts;
    let matched = 0;
    for (let pages = 0; pages < SWEEP_PAGES && !this.#stopped; pages++) {
      const after = this.#checkedTo;
      const waits = await store.uncheckedWaits({ olderThanMs, ...(after && { after }) }, batch);
      matched += (await this.#matchWaits(waits)).fired;
      this.#checkedTo = waits.length < batch ? undefined : waits.at(-1);
      if (this.#checkedTo === undefined) break;
    }
    return matched;
  }

  /** Ends waits for events whose limit has passed, after what came in time has ended its own. Rejects with what the store throws. */
  async timeOut(aheadMs: number): Promise<TimedOut> {
    const { store, batch, onResumed } = this.parts;
    let timeouts = 0;
    let isBusy = false;
    let after: WaitPlace | undefined;
    do {
      const overdue: EventWait[] = await store.overdueEventWaits(batch, aheadMs, after);
      const { busy, later } = await this.#matchWaits(overdue);
      // For one that is busy an event lies there that came in time, and for one that could not be looked up there may: it is not over.
      const over = overdue.filter((wait) => !busy.has(wait) && !later.has(wait));
      const { fired, busy: locked } = await this.#end(over, aheadMs);
      timeouts += fired;
      if (fired > 0) onResumed(fired);
      isBusy ||= locked > 0 || busy.size > 0;
      // Behind what could not be ended.
      after = overdue.length < batch ? undefined : overdue.at(-1);
    } while (after !== undefined);
    return { timeouts, busy: isBusy };
  }

  /** A page in one transaction; where that fails each in one of its own: one that can't be ended holds up none of the others. */
  async #end(waits: readonly EventWait[], aheadMs: number): Promise<{ fired: number; busy: number }> {
    const { store } = this.parts;
    try {
      return await store.fireTimeouts(waits, aheadMs);
    } catch {
      const sum = { fired: 0, busy: 0 };
      for (const wait of waits) {
        const what = `Ending wait ${wait.key} of run ${wait.runId}`;
        const ended = await this.#guarded(what, () => store.fireTimeouts([wait], aheadMs));
        if (typeof ended === 'string') continue;
        sum.fired += ended.fired;
        sum.busy += ended.busy;
      }
      return sum;
    }
  }

  async #matchStageRuns(stageRunIds: readonly string[]): Promise<void> {
    const { store, batch } = this.parts;
    for (let at = 0; at < stageRunIds.length && !this.#stopped; at += batch) {
      const page = stageRunIds.slice(at, at + batch);
      await this.#matchWaits(await store.uncheckedWaits(page, page.length * MOST_WAITS));
    }
  }

  /** Ends those of these waits that stored events are for. */
  async #matchWaits(waits: readonly EventWait[]): Promise<MatchedWaits> {
    let fired = 0;
    const busy = new Set<EventWait>();
    const later = new Set<EventWait>();
    const checked: EventWait[] = [];
    for (const wait of waits) {
      const ended = await this.#guarded(`Matching wait ${wait.key} of run ${wait.runId}`, () => this.#matchWait(wait));
      if (ended === 'none' || ended === 'fired') checked.push(wait);
      if (ended === 'fired') fired++;
      if (ended === 'busy') busy.add(wait);
      if (ended === 'later') later.add(wait);
    }
    if (checked.length > 0) await this.parts.store.markChecked(checked);
    return { fired, busy, later };
  }

  async #matchWait(wait: EventWait): Promise<'fired' | 'none' | 'busy'> {
    const { store, batch } = this.parts;
    let after: Cursor = null;
    do {
      const page: { events: StoredEvent[]; next: Cursor } = await store.findEvents(wait, after, batch);
      for (const event of page.events) {
        if (!this.#holds(wait, valueOf(event))) continue;
        const { runId, stageRunId, key } = wait;
        const { fired, complete } = await this.#fire([{ runId, stageRunId, key, eventId: event.id }]);
        if (fired > 0) return 'fired';
        if (!complete) return 'busy';
      }
      after = page.next;
    } while (after !== null);
    return 'none';
  }

  async #fire(matches: readonly EventMatch[]): Promise<{ fired: number; complete: boolean }> {
    const { store, pauses, batch, onResumed } = this.parts;
    let fired = 0;
    let left = matches;
    for (let tries = 0; left.length > 0 && tries < BUSY_TRIES; tries++) {
      if (tries > 0) await pauses.sleep(BUSY_PAUSE_MS * tries);
      const busy: EventMatch[] = [];
      for (let at = 0; at < left.length; at += batch) {
        const answer = await store.fireEvents(left.slice(at, at + batch));
        fired += answer.fired.length;
        // At once: what comes later may fail.
        if (answer.fired.length > 0) onResumed(answer.fired.length);
        busy.push(...answer.busy);
      }
      left = busy;
    }
    return { fired, complete: left.length === 0 };
  }

  /** A condition that can't be asked of this payload is one that does not hold; that is told, since it may be a mistake. */
  #holds({ where, runId, key }: EventWait, payload: EventValue): boolean {
    if (where === null) return true;
    try {
      const { holds, problem } = compileCondition(where).holds(payload);
      if (problem) this.parts.log.debug(`The condition of wait ${key} of run ${runId} could not be asked: ${problem}`);
      return holds;
    } catch (error) {
      this.parts.log.error(`The condition of wait ${key} of run ${runId} is unusable: ${errorLine(error)}`);
      return false;
    }
  }

  /** One event or wait that can't be dealt with, now or ever, keeps nobody from the page. Rejects where the database is away for all. */
  async #guarded<T>(what: string, work: () => Promise<T>): Promise<T | 'later' | 'never'> {
    const { store, log } = this.parts;
    try {
      return await work();
    } catch (error) {
      if (!store.isTransient(error)) {
        log.error(`${what} failed: ${errorLine(error)}`, errorStack(error));
        return 'never';
      }
      // An answer says that it is this one's trouble alone: a lock, a timeout of a statement. Each time, perhaps.
      await store.now();
      log.warn(`${what} failed for now, and is tried again: ${errorLine(error)}`);
      return 'later';
    }
  }
}

const valueOf = ({ id, payload }: StoredEvent): EventValue =>
  EventValue.of(decodeJson(payload, `The payload of event ${id}`));

/** Waits for events that one stage run is expected to have at most; more are found by the wake pass. */
const MOST_WAITS = 50;
