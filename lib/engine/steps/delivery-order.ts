import type { LedgerRow, StepOrder } from '../ports/step-store.js';

/**
 * The rows of one stage run as this attempt knows them, and the order in which their outcomes reach the body.
 *
 * Places are given here and nowhere else: by the one attempt that holds the stage run. What came from outside gets its place
 * when it is delivered; until the next write takes that along, a crash forgets it, and nothing was built on it.
 */
export class DeliveryOrder {
  readonly #rows = new Map<string, LedgerRow>();
  /** In which order outcomes without a place came. */
  readonly #arrival = new Map<string, number>();
  /** Recorded places of outcomes that the body hasn't got. */
  readonly #owed = new Map<string, number>();
  /** Places of outcomes that are being written. */
  readonly #inFlight = new Set<number>();
  /**
   * Waits may be open in the store. Set before one is written, and never taken back: what is asked is whether something has to
   * be cancelled when the stage moves on.
   */
  mayWait = false;
  #unwritten: StepOrder[] = [];
  #last = 0;

  /** Calls whose outcome the body has got. */
  readonly #delivered = new Set<string>();

  row(key: string): LedgerRow | undefined {
    return this.#rows.get(key);
  }

  /** Takes what the store says now; rows in their order, those without a place in the order in which they came. */
  learn(rows: readonly LedgerRow[]): void {
    for (const row of rows) {
      if (this.#rows.get(row.key)?.status !== row.status) this.#arrive(row.key);
      this.#rows.set(row.key, row);
      if (row.seq === null) continue;
      this.#last = Math.max(this.#last, row.seq);
      if (!this.#delivered.has(row.key)) this.#owed.set(row.key, row.seq);
    }
    this.mayWait ||= rows.some(({ status }) => status === 'waiting');
  }

  /** A call has its outcome now. */
  came(key: string): void {
    if (!this.#arrival.has(key)) this.#arrive(key);
  }

  /** A place for an outcome that is about to be written; `written` when it is. */
  begin(): number {
    this.#inFlight.add(++this.#last);
    return this.#last;
  }

  written(seq: number): void {
    this.#inFlight.delete(seq);
  }

  get writing(): boolean {
    return this.#inFlight.size > 0;
  }

  /** How many outcomes the body has got: where in its life it is. */
  get delivered(): number {
    return this.#delivered.size;
  }

  /** Whether the first is to be delivered before the second. */
  before(a: LedgerRow, b: LedgerRow): boolean {
    const [x, y] = [a.seq ?? Infinity, b.seq ?? Infinity];
    return x === y ? this.#arrival.get(a.key)! < this.#arrival.get(b.key)! : x < y;
  }

  /** An outcome that the body got earlier, or that is being written, must not be overtaken. */
  holdsBack({ seq }: LedgerRow, isAsked: (key: string) => boolean): boolean {
    const place = seq ?? Infinity;
    for (const earlier of this.#inFlight) if (earlier < place) return true;
    for (const [key, earlier] of this.#owed) if (earlier < place && !isAsked(key)) return true;
    return false;
  }

  /** Calls that the body no longer makes are owed nothing. */
  forgive({ seq }: LedgerRow, isAsked: (key: string) => boolean): void {
    for (const [key, earlier] of this.#owed) if (earlier < (seq ?? Infinity) && !isAsked(key)) this.#owed.delete(key);
  }

  /** The body gets it now. */
  deliver({ key, seq }: LedgerRow): void {
    this.#delivered.add(key);
    this.#owed.delete(key);
    if (seq === null) this.#unwritten.push({ key, seq: ++this.#last });
  }

  /** Places that no write has taken along yet. */
  get unwritten(): readonly StepOrder[] {
    return this.#unwritten;
  }

  takeUnwritten(): readonly StepOrder[] {
    const taken = this.#unwritten;
    this.#unwritten = [];
    return taken;
  }

  /** A write that took them along came to nothing: the next one is to. */
  giveBack(orders: readonly StepOrder[]): void {
    this.#unwritten = [...orders, ...this.#unwritten];
  }

  #arrive(key: string): void {
    this.#arrival.set(key, this.#arrival.size);
  }
}
