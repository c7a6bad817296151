import { StepMismatchError } from '../../errors/index.js';
import type { LedgerRow, StepKind, StepOrder } from '../ports/step-store.js';
import { DeliveryOrder } from './delivery-order.js';
import { FailedSteps } from './failed-steps.js';
import { CalledReactions } from './interest.js';
import { OpenWaits } from './open-waits.js';
import { OutcomeWriter, type OutcomeReader } from './outcome-writer.js';
import type { ReplayHost, ReplayStop } from './replay-host.js';
import { StepCall, type AnyCall, type StepPlan } from './step-call.js';
import { StepPromise } from './step-promise.js';
import { Given, Unattended } from './unattended.js';

/** Macrotasks without a durable call after which a body counts as quiet. */
const QUIET_TICKS = 5;
/** A recorded outcome that the body hasn't asked for holds back later ones so long; then the code has changed. */
const PATIENCE_MS = 1_000;
/** Waits that stand in the store while the body goes on are looked at this often. */
const WATCH_MS = 1_000;

/**
 * Replays a stage's body against its ledger: durable calls get their recorded outcomes, one at a time, in the order in
 * which the body got them before; the next only when the body is quiet (protocols, section 8). What is new is begun, written,
 * and delivered after its commit. When nothing is left but to wait, the body is dropped and the stage suspends.
 *
 * The body is never thrown an interrupt that it could catch: a call that can't be answered yet stays pending.
 */
export class Replay implements OutcomeReader {
  /** Writes what calls come to. */
  readonly outcomes: OutcomeWriter;
  /** Calls whose outcome the body hasn't got, by key. */
  readonly #calls = new Map<string, AnyCall>();
  readonly #order = new DeliveryOrder();
  readonly #waits = new OpenWaits(this.#calls, this.#order);
  readonly #occurrences = new Map<string, number>();
  readonly #called = new CalledReactions();
  readonly #failed = new FailedSteps();
  readonly #unattended = new Unattended();
  /** Work of this process that the stage doesn't suspend over. */
  #busy = 0;
  /** Moves on with whatever happens: by it is seen that nothing does. */
  #activity = 0;
  #acting = false;
  #patient = true;
  #watching = false;
  #over = false;
  #handingBack = false;
  #ranOn = false;
  #loaded: Promise<void> | undefined;

  constructor(
    readonly host: ReplayHost,
    /** The stage run may have a ledger already. */
    private readonly hasLedger: boolean,
  ) {
    this.outcomes = new OutcomeWriter(host, this.#order, this);
  }

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
    const call = new StepCall<T>(plan, this.#called, this.#unattended, () => this.#awaited(call as unknown as AnyCall));
    if (this.#over) this.#tellRanOn(plan.name);
    else {
      this.#calls.set(call.key, call as unknown as AnyCall);
      void this.#ask(call as unknown as AnyCall);
    }
    return call.promise;
  }

  /** A call that is none, or what several calls come to: watched as the promise of a call is. */
  given<T>(what: string, promise: Promise<T>): Promise<T> {
    const given = StepPromise.watched<T>(new Given(this.#unattended, what));
    promise.then(given.resolve, given.reject);
    return given.promise;
  }

  /** Plain work of the body's beside a wait: while it runs the stage doesn't suspend. */
  local<T>(work: () => T | Promise<T>): Promise<T> {
    return this.given('ctx.local', this.#local(work));
  }

  async #local<T>(work: () => T | Promise<T>): Promise<T> {
    this.#busy++;
    this.#activity++;
    try {
      return await work();
    } finally {
      this.#ended();
    }
  }

  /** Work on a call, in this process. What it throws is no outcome but the end: the ledger can't be written. */
  work(call: AnyCall, work: () => Promise<void>): void {
    call.phase = 'busy';
    this.#during(work);
  }

  /** Its body may begin again: the row says so, or nothing stands there. */
  begin(call: AnyCall): void {
    if (this.#over) return;
    if (this.host.aborted) return this.unfenced();
    call.plan.begin(call);
  }

  /** It waits for something outside. */
  wait(call: AnyCall): void {
    call.phase = 'waiting';
    this.#moved();
  }

  /** Its outcome is written. */
  settle(call: AnyCall): void {
    call.phase = 'done';
    this.#order.came(call.key);
    this.#moved();
  }

  /** The row changed under a call of ours: what stands there now counts. */
  async reread(call: AnyCall): Promise<void> {
    await this.#load();
    this.#look(call);
  }

  /** The attempt is over in the store. */
  unfenced(): void {
    this.#stop({ kind: 'unfenced' });
  }

  /**
   * A call failed while the process shuts down: the failure is nobody's, and the attempt is handed back. Not before other bodies
   * have ended, within the grace: what is handed back another worker may begin at once.
   */
  handBack(): void {
    if (this.#over) return;
    this.#over = true;
    this.#handingBack = true;
  }

  /**
   * The body has returned. What it began and never looked at is awaited in its place: the stage is not over before that is. From then
   * on nothing is delivered to whatever of the body still runs, and nothing suspends the stage.
   *
   * @throws what the first of these failed with
   */
  async returned(): Promise<void> {
    if (this.#over) return;
    if (this.#unattended.any) {
      const ended = this.#unattended.ended();
      this.#moved();
      await ended;
      const [first] = this.#unattended.failed;
      if (first) {
        this.host.warn(
          `UNAWAITED_STEP: ${first.what} failed, and the body returned without having looked at it, so the attempt fails with it. ` +
            'Await it, or catch what it throws.',
        );
        throw first.failure.error;
      }
    }
    this.#tellCutOff();
    this.#over = true;
  }

  /**
   * The body has ended, by itself or not: what follows for its ledger. `thrown`: what it failed with.
   *
   * Steps are opened again that failed with what the body failed with; when that can't be told, all that failed (STEP-7).
   */
  end(thrown?: { readonly error: unknown }): {
    readonly used: boolean;
    readonly openWaits: boolean;
    readonly reopen: readonly string[];
  } {
    this.#over = true;
    // What nobody looked at would fail the next attempt, too.
    const errors = thrown ? [thrown.error, ...this.#unattended.failed.map(({ failure }) => failure.error)] : [];
    const reopen = [...new Set(errors.flatMap((error) => this.#failed.blamedFor(error)))];
    return { used: this.#occurrences.size > 0, openWaits: this.#order.mayWait, reopen };
  }

  /** Looks at what became of open waits while the body goes on. Rejects with what the journal throws. */
  async lookAgain(): Promise<void> {
    if (this.#over) return;
    await this.#load();
    for (const call of this.#calls.values()) {
      const row = this.#order.row(call.key);
      const waits = call.phase === 'waiting' || call.phase === 'blocked';
      if (waits && row && (call.saved || call.phase === 'blocked') && !isOpen(row)) this.#look(call);
    }
  }

  async #ask(call: AnyCall): Promise<void> {
    this.#activity++;
    if (this.hasLedger) {
      try {
        await (this.#loaded ??= this.#load());
      } catch (error) {
        return this.#stop({ kind: 'broken', error });
      }
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
    if (row && row.kind !== call.plan.kind) return this.#mismatch(call, row);
    switch (row?.status) {
      case 'completed':
        return this.settle(call);
      case 'failed':
        return row.reopened ? this.begin(call) : this.settle(call);
      case 'waiting':
        call.saved = true;
        call.savedEpoch = -1;
        return this.wait(call);
      case 'running':
        if ((row.leaseInMs ?? 0) <= 0) return this.begin(call);
        call.phase = 'blocked';
        return this.#moved();
      case 'cancelled':
        // Retired, since nobody awaited it; awaited again it goes on with the instant it had.
        return isWait(call.plan.kind) ? this.wait(call) : this.begin(call);
      case 'ready':
      case undefined:
        return this.begin(call);
    }
  }

  #mismatch(call: AnyCall, { kind: recorded }: LedgerRow): void {
    const { name: step, kind: asked } = call.plan;
    this.#calls.delete(call.key);
    this.#activity++;
    call.refuse(new StepMismatchError({ step, recorded, asked }));
  }

  #awaited(call: AnyCall): void {
    call.epoch = this.#order.delivered;
    this.#moved();
  }

  /** Something happened that may let the body go on, or end it. */
  #moved(): void {
    this.#activity++;
    this.#unattended.look();
    if (this.#acting || this.#over || !this.#mayAct()) return;
    this.#acting = true;
    this.#act()
      .then((seen) => {
        this.#acting = false;
        // What happened between its last look and now would else be nobody's.
        if (this.#activity !== seen) this.#moved();
      })
      .catch((error: unknown) => this.#stop({ kind: 'broken', error }));
  }

  #mayAct(): boolean {
    for (const call of this.#calls.values()) if (call.phase === 'done' || call.wanted) return true;
    return false;
  }

  /** Delivers, one outcome at a time; saves waits; suspends. Ends when there is nothing to do before something else happens. */
  async #act(): Promise<number> {
    while (!this.#over && this.#mayAct()) {
      // A body with a single call can have nothing on its mind that would have to come before its outcome.
      await this.#quiet(this.#nextDone() && this.#calls.size === 1 ? 1 : QUIET_TICKS);
      if (this.#over) break;
      const done = this.#nextDone();
      if (done && !this.#order.holdsBack(done.row!, this.#isAsked)) {
        this.#deliver(done);
        continue;
      }
      if (this.#busy > 0) {
        this.#saveWaits();
        this.#watch();
        if (!done || this.#order.writing) break;
      }
      if (done) await this.#outwait(done);
      else this.#suspend();
    }
    return this.#activity;
  }

  async #quiet(ticks: number): Promise<void> {
    for (let still = 0; still < ticks && !this.#over;) {
      const before = this.#activity;
      await this.host.tick();
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
      this.#patient = this.#activity !== before;
      if (this.#over || this.#patient) return;
    }
    this.#order.forgive(done.row!, this.#isAsked);
  }

  readonly #isAsked = (key: string): boolean => this.#calls.has(key);

  #deliver(call: AnyCall): void {
    const row = call.row!;
    this.#calls.delete(call.key);
    this.#order.deliver(row);
    this.#activity++;
    try {
      call.fulfil(call.plan.outcome(row));
    } catch (error) {
      if (row.status === 'failed') this.#failed.add(call.key, error);
      call.refuse(error);
    }
  }

  #suspend(): void {
    // What it does not await any more holds nothing up, except for a step between two tries.
    if (this.#unattended.returned && !this.#waits.wanted().some(({ acts }) => acts))
      return this.#unattended.onlyWaits();
    const suspension = this.#waits.suspension();
    if (suspension) this.#stop({ kind: 'suspended', suspension });
  }

  /** Something else of the body still runs: a sleep's instant counts from when it was awaited all the same. */
  #saveWaits(): void {
    const calls = this.#waits.unsaved();
    if (calls.length === 0) return;
    const waits = this.#waits.rows(calls);
    this.#order.mayWait = true;
    this.#during(async () => {
      if ((await this.outcomes.write({ op: 'wait', waits, orders: [] })) === 'not-fenced') return this.unfenced();
      this.#waits.saved(calls);
      // What they wait for may be there already.
      if (await this.host.journal.waiting(waits)) await this.lookAgain();
    });
  }

  /** Waits that stand in the store may be ended from outside while the body goes on. */
  #watch(): void {
    if (this.#watching || this.#waits.wanted().length === 0) return;
    this.#watching = true;
    this.#keepWatch()
      .catch((error: unknown) => this.#stop({ kind: 'broken', error }))
      .finally(() => (this.#watching = false));
  }

  /** For as long as that lasts: a body with nothing but waits suspends. */
  async #keepWatch(): Promise<void> {
    for (;;) {
      await this.host.pause(WATCH_MS);
      if (this.#over || this.#busy === 0) return;
      if (this.#waits.wanted().length > 0) await this.lookAgain();
    }
  }

  /** While it goes on the stage doesn't suspend. What it throws is the end: the ledger can't be read or written. */
  #during(work: () => Promise<void>): void {
    this.#busy++;
    this.#activity++;
    work()
      .catch((error: unknown) => this.#stop({ kind: 'broken', error }))
      .finally(() => this.#ended());
  }

  /** Work of this process has ended. */
  #ended(): void {
    this.#busy--;
    if (this.#handingBack && this.#busy === 0) {
      this.#handingBack = false;
      this.host.stop({ kind: 'shutdown' });
    }
    this.#moved();
  }

  #stop(stop: ReplayStop): void {
    if (this.#over) return;
    this.#over = true;
    this.host.stop(stop);
  }

  /** Steps that some function awaits which the body itself did not: whether it forgot that, or raced it, nobody can see. */
  #tellCutOff(): void {
    const cut = [...this.#calls.values()].filter(
      ({ acts, phase, interest }) => acts && (phase === 'asked' || phase === 'busy') && interest.wanted,
    );
    if (cut.length === 0) return;
    this.host.warn(
      `UNAWAITED_STEP: the body returned while ${cut.map(({ plan }) => `step "${plan.name}"`).join(', ')} had not ended, which a ` +
        'function awaits that nobody awaits: its outcome counts for nothing, and a transaction is rolled back. Await that function.',
    );
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

const WAITS: ReadonlySet<StepKind> = new Set<StepKind>(['sleep', 'event', 'signal', 'child']);
const isWait = (kind: StepKind): boolean => WAITS.has(kind);

/** Nothing has come of it yet. */
const isOpen = ({ status, leaseInMs }: LedgerRow): boolean =>
  status === 'waiting' || (status === 'running' && (leaseInMs ?? 0) > 0);
