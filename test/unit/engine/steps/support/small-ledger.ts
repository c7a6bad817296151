import type { LedgerRow, OpenWait, StepVerdict } from '../../../../../lib/engine/ports/index.js';
import type { AttemptWrite, StepJournal, Suspension } from '../../../../../lib/engine/steps/index.js';
import { LEASE_KEY } from '../../../../../lib/engine/steps/index.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Row extends Mutable<Omit<LedgerRow, 'leaseInMs' | 'expiresInMs'>> {
  leaseUntil: number | null;
  dueAt: number | null;
  expiresAt: number | null;
  eventKey: string | null;
  epoch: number;
  order: number;
}

export class Crash extends Error {}

/**
 * The ledger of one stage run, in memory and with a clock of its own: enough to replay a body on, to end its waits, and to
 * crash at any write, before or after it is done.
 */
export class SmallLedger {
  readonly rows = new Map<string, Row>();
  readonly effects = new Map<string, string>();
  now = 0;
  writes = 0;
  #order = 0;
  #token = 0;
  /** What the next transactions come to, but for `written`; `lost`: committed, and the answer lost. */
  readonly transactions: (StepVerdict | 'lost')[] = [];
  /** Comes before every write. */
  before: (write: AttemptWrite) => void | Promise<void> = () => undefined;
  /** Told of waits that a body which goes on has written; true when it ended one of them. */
  answer: (waits: readonly OpenWait[]) => boolean = () => false;
  /** At this write the process dies: `before` it is done, or `after`. */
  crashAt: { readonly write: number; readonly when: 'before' | 'after' } | undefined;

  /** A new attempt: what earlier ones begin or finish from now on comes from a process that is gone. */
  journal(): StepJournal {
    const token = String(++this.#token);
    let dead = false;
    // Whoever held a lease has died with its process.
    for (const row of this.rows.values()) if (row.status === 'running') row.leaseUntil = this.now;
    return {
      load: async () => this.read(),
      write: async (write) => {
        await this.before(write);
        if (dead || token !== String(this.#token)) return new Promise<never>(() => undefined);
        const number = ++this.writes;
        const crash = this.crashAt?.write === number ? this.crashAt : undefined;
        // What else it had under way dies with it.
        if (crash) dead = true;
        if (crash?.when === 'before') throw new Crash();
        const verdict = this.#write(write, token);
        if (crash) throw new Crash();
        return verdict;
      },
      commits: () => async (body) => {
        const write = await body(null);
        if (!write || token !== String(this.#token)) return 'not-fenced';
        const answer = this.transactions.shift() ?? 'written';
        if (answer === 'lost') {
          this.#write(write, token);
          return 'settled';
        }
        return answer === 'written' ? this.#write(write, token) : answer;
      },
      waiting: async (waits) => this.answer(waits),
      readEffect: async (name) => ({ digest: Buffer.from(name), result: this.effects.get(name) }),
    };
  }

  read(): LedgerRow[] {
    return [...this.rows.values()]
      .sort((a, b) => (a.seq ?? Infinity) - (b.seq ?? Infinity) || a.order - b.order)
      .map((row) => ({
        ...row,
        leaseInMs: row.leaseUntil === null ? null : row.leaseUntil - this.now,
        expiresInMs: row.expiresAt === null ? null : row.expiresAt - this.now,
      }));
  }

  suspend({ waits, keep, orders }: Suspension): void {
    for (const { key, seq } of orders) this.rows.get(key)!.seq = seq;
    for (const wait of waits) this.#open(wait);
    for (const row of this.rows.values()) {
      if (row.status === 'waiting' && !keep.includes(row.key)) row.status = 'cancelled';
    }
  }

  /** Travels to the next instant at which something happens, and lets it happen. False: nothing ever will. */
  fireNext(events: readonly { readonly key: string; readonly at: number; readonly payload: unknown }[] = []): boolean {
    const open = [...this.rows.values()].filter(({ status }) => status === 'waiting');
    const wanted = new Set(open.map(({ eventKey }) => eventKey));
    const instants = [
      ...open.flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt])),
      ...events.filter(({ key }) => wanted.has(key)).map(({ at }) => at),
    ];
    if (instants.length === 0) return false;
    this.now = Math.max(this.now, Math.min(...instants));
    for (const row of open.sort((a, b) => b.epoch - a.epoch || a.order - b.order)) {
      const event = events.find(({ key, at }) => key === row.eventKey && at <= this.now);
      if (event) this.end(row.key, JSON.stringify(event.payload));
    }
    for (const row of open.sort((a, b) => (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity) || a.order - b.order)) {
      if (row.status !== 'waiting' || row.dueAt === null || row.dueAt > this.now) continue;
      if (row.key === LEASE_KEY) row.status = 'cancelled';
      else if (row.kind === 'poll' || row.kind === 'run' || row.kind === 'transaction') row.status = 'ready';
      else {
        this.end(row.key, null);
        row.timedOut = row.kind !== 'sleep';
      }
    }
    return true;
  }

  /** Something outside ends a wait. */
  end(key: string, result: string | null): void {
    Object.assign(this.rows.get(key)!, { status: 'completed', result, seq: null, order: ++this.#order });
  }

  #write(write: AttemptWrite, token: string): StepVerdict {
    for (const { key, seq } of write.orders) this.rows.get(key)!.seq = seq;
    if (write.op === 'wait') {
      for (const wait of write.waits) this.#open(wait);
      return 'written';
    }
    const row = this.rows.get(write.key);
    if (write.op === 'begin') {
      if (row?.status === 'running' && row.token !== token && row.leaseUntil! > this.now) return 'held';
      if (row && (row.status === 'completed' || (row.status === 'failed' && !row.reopened))) return 'settled';
      const attempt = row && row.status !== 'failed' ? row.attempt + 1 : 1;
      this.rows.set(write.key, {
        ...(row ?? this.#empty(write.key, write.kind)),
        ...{ status: 'running', token, attempt, leaseUntil: this.now + write.leaseMs, seq: null, reopened: false },
      });
      return 'written';
    }
    if (write.begun && (row?.status !== 'running' || row.token !== token)) return 'not-fenced';
    const { outcome } = write;
    const known = row ?? this.#empty(write.key, write.kind);
    const next = write.kind === 'transaction' ? { ...known, attempt: known.attempt + 1 } : known;
    const order = ++this.#order;
    if (outcome.kind === 'again') {
      const dueAt = this.now + outcome.delayMs;
      this.rows.set(write.key, { ...next, status: 'waiting', failure: outcome.failure, dueAt, order });
    } else if (outcome.kind === 'completed') {
      this.rows.set(write.key, { ...next, status: 'completed', result: outcome.result, seq: write.seq, order });
      if (write.effect) this.effects.set(write.effect.toString(), outcome.result);
    } else {
      this.rows.set(write.key, { ...next, status: 'failed', failure: outcome.failure, seq: write.seq, order });
    }
    return 'written';
  }

  #open(wait: OpenWait): void {
    const row = this.rows.get(wait.key);
    if (row?.status === 'completed' || row?.status === 'failed') return;
    const expiresAt = row ? row.expiresAt : wait.expiresInMs === null ? null : this.now + wait.expiresInMs;
    const due = wait.due === null ? null : 'at' in wait.due ? Date.parse(wait.due.at) : this.now + wait.due.inMs;
    const kept = row && wait.dueIfNew ? row.dueAt : due;
    const dueAt = kept === null ? expiresAt : expiresAt === null ? kept : Math.min(kept, expiresAt);
    const { key, kind, eventKey, epoch, childRunId, state } = wait;
    const attempt = (row?.attempt ?? 0) + (kind === 'poll' ? 1 : 0);
    this.rows.set(key, {
      ...(row ?? this.#empty(key, kind)),
      ...{ status: 'waiting', dueAt, expiresAt, eventKey, epoch, childRunId, state, attempt, order: ++this.#order },
    });
  }

  #empty(key: string, kind: LedgerRow['kind']): Row {
    return {
      ...{ stageRunId: 's', key, kind, status: 'running', seq: null, attempt: 0, result: null, failure: null },
      ...{ timedOut: false, reopened: false, token: null, leaseUntil: null, dueAt: null, expiresAt: null },
      ...{ eventKey: null, epoch: 0, childRunId: null, state: null, order: ++this.#order },
    };
  }
}
