import { StepMismatchError } from '../../errors/index.js';
import type { JsonText } from '../state/rows.js';
import type { LedgerRow, OpenWait, StepKind, StepOrder, StepOutcome, StepVerdict } from '../ports/step-store.js';
import { DeliveryOrder } from './delivery-order.js';
import { FailedSteps } from './failed-steps.js';
import { CalledReactions } from './interest.js';
import type { AttemptWrite, ReplayHost, Suspension } from './replay-host.js';
import { leaseWait, settledRow, type Settled } from './replay-rows.js';
import { StepCall, type AnyCall, type StepPlan } from './step-call.js';
import { LEASE_KEY } from './step-key.js';

/** Macrotasks without a durable call after which a body counts as quiet. */
const QUIET_TICKS = 5;
/** A recorded outcome that the body hasn't asked for holds back later ones so long; then the code has changed. */
const PATIENCE_MS = 1_000;
/** A locked row is tried again after this. */
const BUSY_PAUSE_MS = 20;
/** Waits that stand in the store while the body goes on are looked at this often. */
const WATCH_MS = 1_000;

/**
 * Replays a stage's body against its ledger: durable calls get their recorded outcomes, one at a time, in the order in
 * which the body got them before; the next only when the body is quiet (protocols, section 8). What is new is begun, written,
 * and delivered after its commit. When nothing is left but to wait, the body is dropped and the stage suspends.
 *
 * The body is never thrown an interrupt that it could catch: a call that can't be answered yet stays pending.
 */
export class Replay {
  /** Calls whose outcome the body hasn't got, by key. */
  readonly #calls = new Map<string, AnyCall>();
  readonly #order = new DeliveryOrder();
  readonly #occurrences = new Map<string, number>();
  readonly #called = new CalledReactions();
  readonly #failed = new FailedSteps();
  #epoch = 0;
  #busy = 0;
  #activity = 0;
  #looping = false;
  #patient = true;
  #watching = false;
  #over = false;
  #ranOn = false;
  #loaded: Promise<void> | undefined;
  #used = false;

  constructor(
    readonly host: ReplayHost,
    /** The stage run may have a ledger already. */
    private readonly hasLedger: boolean,
  ) {}

  /** The attempt is over: nothing is delivered any more, and no call of the body's is answered. */
  get over(): boolean {
    return this.#over;
  }

  /** Places that the attempt's next write is to take along. */
  get orders(): readonly StepOrder[] {
    return this.#order.unwritten;
  }

  /** The how-manieth call of this name in this scope. */
  occurrence(scope: string, name: string): number {
    const id = `${scope}\n${name}`;
    const count = (this.#occurrences.get(id) ?? 0) + 1;
    this.#occurrences.set(id, count);
    return count;
  }

  /** Makes a durable call. Its promise stays pending for ever once the body is dropped. */
  call<T>(plan: StepPlan<T>): Promise<T> {
    const call = new StepCall<T>(plan, this.#called, (changed) => this.#awaited(changed as unknown as AnyCall));
    if (this.#over) {
      this.#tellRanOn(plan.name);
      return call.promise;
    }
    this.#used = true;
    this.#calls.set(call.key, call as unknown as AnyCall);
    void this.#ask(call as unknown as AnyCall);
    return call.promise;
  }

  /** Plain work of the body's beside a wait: while it runs the stage doesn't suspend. */
  async local<T>(work: () => T | Promise<T>): Promise<T> {
    this.#busy++;
    this.#activity++;
    try {
      return await work();
    } finally {
      this.#busy--;
      this.#moved();
    }
  }

  /** Work on a call, in this process. What it throws is no outcome but the end: the ledger can't be written. */
  work(call: AnyCall, work: () => Promise<void>): void {
    call.phase = 'busy';
    this.#busy++;
    this.#activity++;
    work()
      .catch((error: unknown) => this.#stop({ kind: 'broken', error }))
      .finally(() => {
        this.#busy--;
        this.#moved();
      });
  }

  /** Writes for a call; locked rows are tried again. Places of outcomes delivered since the last write go along. */
  async write(write: AttemptWrite): Promise<StepVerdict> {
    const orders = this.#order.takeUnwritten();
    for (;;) {
      const verdict = await this.host.journal.write({ ...write, orders });
      if (verdict !== 'busy') return verdict;
      await this.host.pause(BUSY_PAUSE_MS);
    }
  }

  /**
   * Writes how a call ended, and gives it to the body in its turn. `begun`: its row is held by this attempt. An outcome `again`
   * is none yet: the caller sees to the next try. Of an attempt that is over, the outcome is kept for whoever replays it.
   */
  async finish(
    call: AnyCall,
    outcome: StepOutcome,
    { begun = false, effect = null }: { begun?: boolean; effect?: Buffer | null } = {},
  ): Promise<void> {
    // What was not begun is no effect of anybody's: an attempt that is over has nothing to keep.
    if (this.#over && !begun) return;
    const { key, kind } = call.plan;
    const seq = this.#over || outcome.kind === 'again' ? null : this.#order.begin();
    const verdict = await this.write({ op: 'finish', key, kind, begun, outcome, seq, effect, orders: [] });
    if (verdict !== 'written') return this.unfenced();
    if (seq === null || outcome.kind === 'again') return;
    this.#order.written(seq);
    this.#recorded(call, outcome, seq);
  }

  /**
   * Runs `body` in a transaction of the host's, of which its outcome is the last write: after the commit both are there, else
   * neither. Given to the body in its turn, after the commit. Of an attempt that is over by then nothing is committed.
   *
   * @throws what `body` throws, or what the commit failed with: all is rolled back then
   */
  async commit(call: AnyCall, body: (manager: unknown) => Promise<JsonText>): Promise<void> {
    for (;;) {
      const { verdict, result, seq } = await this.#commitOnce(call, body);
      if (verdict === 'written') {
        // Freed and settled in one go, else a later outcome could slip by.
        this.#order.written(seq!);
        return this.#recorded(call, { kind: 'completed', result: result! }, seq!);
      }
      if (verdict === 'settled') return this.reread(call);
      if (verdict !== 'busy') return this.unfenced();
      await this.host.pause(BUSY_PAUSE_MS);
      if (this.#over) return;
    }
  }

  /** Its place is taken once the body has run, so that nothing is held up by how long that takes. */
  async #commitOnce(call: AnyCall, body: (manager: unknown) => Promise<JsonText>): Promise<Committed> {
    const { key, kind } = call.plan;
    let orders: readonly StepOrder[] = [];
    let seq: number | undefined;
    let result: JsonText | undefined;
    let verdict: StepVerdict = 'busy';
    try {
      verdict = await this.host.journal.commitWith(async (manager) => {
        result = await body(manager);
        if (this.#over || this.host.aborted) return undefined;
        orders = this.#order.takeUnwritten();
        seq = this.#order.begin();
        const outcome = { kind: 'completed', result } as const;
        return { op: 'finish', key, kind, begun: false, outcome, seq, effect: null, orders };
      });
    } finally {
      if (verdict !== 'written') {
        if (seq !== undefined) this.#order.written(seq);
        this.#order.giveBack(orders);
      }
    }
    return { verdict, result, seq };
  }

  #recorded(call: AnyCall, outcome: Settled, seq: number): void {
    call.row = settledRow(call, outcome, seq);
    this.#settle(call);
  }

  /** Its body may begin again: the row says so, or nothing stands there. */
  begin(call: AnyCall): void {
    if (this.#over) return;
    if (this.host.aborted) return this.#stop({ kind: 'unfenced' });
    call.plan.begin(call);
  }

  /** It waits for something outside. */
  wait(call: AnyCall): void {
    call.phase = 'waiting';
    this.#moved();
  }

  /** Its body runs elsewhere. */
  block(call: AnyCall, row: LedgerRow): void {
    call.phase = 'blocked';
    call.row = row;
    this.#moved();
  }

  /** The attempt is over in the store. */
  unfenced(): void {
    this.#stop({ kind: 'unfenced' });
  }

  /** A call failed while the process shuts down: the attempt is handed back, the failure nobody's. */
  handBack(): void {
    this.#stop({ kind: 'shutdown' });
  }

  /** The row changed under a call of ours: what stands there now counts. */
  async reread(call: AnyCall): Promise<void> {
    await this.#load();
    this.#look(call);
  }

  /**
   * The body has ended, by itself or not: what follows for its ledger. `error`: what it threw.
   *
   * Steps are opened again that failed with what the body failed with; when that can't be told, all that failed (STEP-7).
   */
  end(thrown?: { readonly error: unknown }): {
    readonly used: boolean;
    readonly openWaits: boolean;
    readonly reopen: readonly string[];
  } {
    this.#over = true;
    const reopen = thrown ? this.#failed.blamedFor(thrown.error) : [];
    return { used: this.#used, openWaits: this.#order.openWaits > 0, reopen };
  }

  async #ask(call: AnyCall): Promise<void> {
    this.#activity++;
    if (!this.hasLedger) return this.#look(call);
    try {
      await (this.#loaded ??= this.#load());
    } catch (error) {
      return this.#stop({ kind: 'broken', error });
    }
    this.#look(call);
  }

  async #load(): Promise<void> {
    this.#order.learn(await this.host.journal.load());
  }

  /** Goes on with a call by what the ledger says of it. */
  #look(call: AnyCall): void {
    if (this.#over) return;
    const row = this.#order.row(call.key);
    call.row = row;
    if (row && !fits(row.kind, call.plan.kind)) {
      const { name: step, kind: asked } = call.plan;
      this.#calls.delete(call.key);
      this.#activity++;
      return call.refuse(new StepMismatchError({ step, recorded: row.kind, asked }));
    }
    switch (row?.status) {
      case 'completed':
        return this.#settle(call);
      case 'failed':
        return row.reopened ? this.begin(call) : this.#settle(call);
      case 'waiting':
        call.saved = true;
        call.savedEpoch = -1;
        return this.wait(call);
      case 'running':
        return row.leaseInMs !== null && row.leaseInMs > 0 ? this.block(call, row) : this.begin(call);
      case 'cancelled':
        // Retired, since nobody awaited it; awaited again it goes on with the instant it had.
        return isWait(call.plan.kind) ? this.wait(call) : this.begin(call);
      case 'ready':
      case undefined:
        return this.begin(call);
    }
  }

  #settle(call: AnyCall): void {
    call.phase = 'done';
    this.#order.came(call.key);
    this.#moved();
  }

  #awaited(call: AnyCall): void {
    call.epoch = this.#epoch;
    this.#moved();
  }

  /** Something happened that may let the body go on, or end it. */
  #moved(): void {
    this.#activity++;
    if (this.#looping || this.#over || !this.#mayAct()) return;
    this.#looping = true;
    void this.#act().then((seen) => {
      this.#looping = false;
      // What happened between its last look and now would else be nobody's.
      if (this.#activity !== seen) this.#moved();
    });
  }

  #mayAct(): boolean {
    for (const call of this.#calls.values()) if (call.phase === 'done' || call.wanted) return true;
    return false;
  }

  /** Delivers, one outcome at a time; saves waits; suspends. Ends when there is nothing to do before something else happens. */
  async #act(): Promise<number> {
    while (!this.#over && this.#mayAct()) {
      const next = this.#nextDone();
      // A body with a single call can have nothing on its mind that would have to come before its outcome.
      await this.#quiet(next && this.#calls.size === 1 ? 1 : QUIET_TICKS);
      if (this.#over) break;
      const done = this.#nextDone();
      if (done && !this.#order.holdsBack(done.row!, this.#isAsked)) {
        this.#deliver(done);
        continue;
      }
      if (this.#busy > 0) {
        if (this.#unsaved().length > 0) this.#saveWaits();
        this.#watch();
        if (!done || this.#order.writing) break;
      }
      if (done) {
        await this.#outwait(done);
        continue;
      }
      const wanted = [...this.#calls.values()].filter((call) => call.wanted);
      if (wanted.length > 0) this.#stop({ kind: 'suspended', suspension: this.#suspension(wanted) });
    }
    return this.#activity;
  }

  async #quiet(ticks: number): Promise<void> {
    for (let still = 0; still < ticks;) {
      const before = this.#activity;
      await this.host.tick();
      if (this.#over) return;
      still = this.#activity === before ? still + 1 : 0;
    }
  }

  #nextDone(): AnyCall | undefined {
    let next: AnyCall | undefined;
    for (const call of this.#calls.values()) {
      if (call.phase === 'done' && (!next || this.#order.before(call.row!, next.row!))) next = call;
    }
    return next;
  }

  /** Plain work between two calls may take its time; code that no longer makes the call never makes it. */
  async #outwait(done: AnyCall): Promise<void> {
    if (this.#patient) {
      this.#patient = false;
      const before = this.#activity;
      await this.host.pause(PATIENCE_MS);
      if (this.#over || this.#activity !== before) {
        this.#patient = true;
        return;
      }
    }
    this.#order.forgive(done.row!, this.#isAsked);
  }

  readonly #isAsked = (key: string): boolean => this.#calls.has(key);

  #deliver(call: AnyCall): void {
    const row = call.row!;
    this.#calls.delete(call.key);
    this.#order.deliver(row);
    if (call.saved) this.#order.openWaits--;
    this.#epoch++;
    this.#activity++;
    try {
      call.fulfil(call.plan.outcome(row));
    } catch (error) {
      if (row.status === 'failed') this.#failed.add(call.key, error);
      call.refuse(error);
    }
  }

  #unsaved(): AnyCall[] {
    return [...this.#calls.values()].filter((call) => call.wanted && call.phase === 'waiting' && this.#mustWrite(call));
  }

  /** A wait stands as it is to stand; of messages the wait that was awaited last is to get them, so that counts too. */
  #mustWrite(call: AnyCall): boolean {
    if (!call.saved) return true;
    const { kind } = call.plan;
    return (kind === 'signal' || kind === 'event') && call.savedEpoch !== call.epoch;
  }

  /** Something else of the body still runs: a sleep's instant counts from when it was awaited all the same. */
  #saveWaits(): void {
    const calls = this.#unsaved();
    const waits = calls.map((call) => this.#openWait(call));
    this.#busy++;
    this.write({ op: 'wait', waits, orders: [] })
      .then((verdict) => {
        if (verdict === 'not-fenced') return this.unfenced();
        for (const call of calls) this.#markSaved(call);
        return undefined;
      })
      .catch((error: unknown) => this.#stop({ kind: 'broken', error }))
      .finally(() => {
        this.#busy--;
        this.#moved();
      });
  }

  #markSaved(call: AnyCall): void {
    if (!call.saved) this.#order.openWaits++;
    call.saved = true;
    call.savedEpoch = call.epoch;
  }

  #openWait(call: AnyCall): OpenWait {
    return { ...call.plan.wait(call), epoch: call.epoch };
  }

  /** Waits that stand in the store may be ended from outside while the body goes on. */
  #watch(): void {
    if (this.#watching || ![...this.#calls.values()].some((call) => call.wanted)) return;
    this.#watching = true;
    void this.#keepWatch().finally(() => (this.#watching = false));
  }

  async #keepWatch(): Promise<void> {
    while (!this.#over) {
      await this.host.pause(WATCH_MS);
      const watched = [...this.#calls.values()].filter(
        (call) => call.wanted && (call.saved || call.phase === 'blocked'),
      );
      if (this.#over || this.#busy === 0) return;
      if (watched.length === 0) continue;
      try {
        await this.lookAgain();
      } catch (error) {
        return this.#stop({ kind: 'broken', error });
      }
    }
  }

  /** Looks at what became of open waits: a hint says that something did, or it is time. */
  async lookAgain(): Promise<void> {
    if (this.#over || !this.#used) return;
    await this.#load();
    for (const call of this.#calls.values()) {
      if (call.phase !== 'waiting' && call.phase !== 'blocked') continue;
      const row = this.#order.row(call.key);
      if (!row || row.status === 'waiting' || (row.status === 'running' && (row.leaseInMs ?? 0) > 0)) continue;
      if (row.status === 'cancelled' && call.saved === false) continue;
      this.#look(call);
    }
  }

  #suspension(wanted: readonly AnyCall[]): Suspension {
    const blocked = wanted.filter((call) => call.phase === 'blocked');
    const waits = this.#unsaved().map((call) => this.#openWait(call));
    const keep = wanted.filter((call) => call.phase === 'waiting').map(({ key }) => key);
    if (blocked.length > 0) {
      waits.push(leaseWait(Math.min(...blocked.map((call) => call.row!.leaseInMs ?? 0)), this.#epoch));
      keep.push(LEASE_KEY);
    }
    return { waits, keep, orders: this.#order.unwritten };
  }

  #stop(stop: Parameters<ReplayHost['stop']>[0]): void {
    if (this.#over) return;
    this.#over = true;
    this.host.stop(stop);
  }

  #tellRanOn(name: string): void {
    if (this.#ranOn) return;
    this.#ranOn = true;
    this.host.warn(
      `BODY_RAN_ON: the body went on after its attempt was over, and called step "${name}", which is never answered. ` +
        'Plain work beside a wait belongs in ctx.step.run or ctx.local.',
    );
  }
}

/** What one transaction came to; of one that was rolled back there may be neither result nor place. */
interface Committed {
  readonly verdict: StepVerdict;
  readonly result: JsonText | undefined;
  readonly seq: number | undefined;
}

const WAITS: ReadonlySet<StepKind> = new Set<StepKind>(['sleep', 'event', 'signal', 'child']);
const isWait = (kind: StepKind): boolean => WAITS.has(kind);

/** The lease wait of a stage run stands under a key that no call has. */
const fits = (recorded: StepKind, asked: StepKind): boolean => recorded === asked;
