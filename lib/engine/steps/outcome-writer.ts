import type { StepOrder, StepOutcome, StepVerdict } from '../ports/step-store.js';
import type { JsonText } from '../state/rows.js';
import type { DeliveryOrder } from './delivery-order.js';
import type { AttemptWrite, CommitWith, ReplayHost } from './replay-host.js';
import { settledRow, type Settled } from './replay-rows.js';
import type { AnyCall } from './step-call.js';

/** The replay that outcomes are written for. */
export interface OutcomeReader {
  readonly over: boolean;
  /** The call's row has its outcome now: the body gets it in its turn. */
  settle(call: AnyCall): void;
  /** Somebody, perhaps this attempt itself, wrote what stands there now. */
  reread(call: AnyCall): Promise<void>;
  /** The attempt is over in the store. */
  unfenced(): void;
}

/** A locked row is tried again after this. */
const BUSY_PAUSE_MS = 20;

/** Writes what calls come to, each with its place in the order of delivery; the body gets it after the commit. */
export class OutcomeWriter {
  constructor(
    private readonly host: ReplayHost,
    private readonly order: DeliveryOrder,
    private readonly reader: OutcomeReader,
  ) {}

  /** Locked rows are tried again. Places of outcomes delivered since the last write go along. */
  async write(write: AttemptWrite): Promise<StepVerdict> {
    const orders = this.order.takeUnwritten();
    for (;;) {
      const verdict = await this.host.journal.write({ ...write, orders });
      if (verdict !== 'busy') return verdict;
      await this.host.pause(BUSY_PAUSE_MS);
    }
  }

  /**
   * Writes how a call ended. `begun`: its row is held by this attempt. An outcome `again` is none yet: the caller sees to the
   * next try. Of an attempt that is over, the outcome is kept for whoever replays it.
   */
  async finish(
    call: AnyCall,
    outcome: StepOutcome,
    { begun = false, effect = null }: { begun?: boolean; effect?: Buffer | null } = {},
  ): Promise<void> {
    const { reader, order } = this;
    // What was not begun is no effect of anybody's: an attempt that is over has nothing to keep.
    if (reader.over && !begun) return;
    const { key, kind } = call.plan;
    if (outcome.kind === 'again') order.mayWait = true;
    const seq = reader.over || outcome.kind === 'again' ? null : order.begin();
    const verdict = await this.write({ op: 'finish', key, kind, begun, outcome, seq, effect, orders: [] });
    if (verdict === 'written') {
      if (seq !== null && outcome.kind !== 'again') this.#recorded(call, outcome, seq);
      return;
    }
    // By this very write, perhaps, whose answer was lost: its place is taken until that is read.
    if (verdict === 'settled' && !reader.over) await reader.reread(call);
    else reader.unfenced();
    if (seq !== null) order.written(seq);
  }

  /**
   * Runs `body` in a transaction of the host's, of which its outcome is the last write: after the commit both are there, else
   * neither. Of an attempt that is over by then nothing is committed.
   *
   * @throws what `body` throws, or what the commit failed with: all is rolled back then
   */
  async commit(call: AnyCall, body: (manager: unknown) => Promise<JsonText>): Promise<void> {
    const { host, reader } = this;
    const commitWith = host.journal.commits();
    for (;;) {
      const { verdict, result, seq } = await this.#commitOnce(call, commitWith, body);
      if (verdict === 'written') return this.#recorded(call, { kind: 'completed', result: result! }, seq!);
      if (verdict === 'settled') return reader.reread(call);
      if (verdict !== 'busy') return reader.unfenced();
      await host.pause(BUSY_PAUSE_MS);
      if (reader.over) return;
    }
  }

  /** Its place is taken once the body has run, so that nothing is held up by how long that takes. */
  async #commitOnce(
    call: AnyCall,
    commitWith: CommitWith,
    body: (manager: unknown) => Promise<JsonText>,
  ): Promise<Committed> {
    const { host, order, reader } = this;
    const { key, kind } = call.plan;
    let orders: readonly StepOrder[] = [];
    let seq: number | undefined;
    let result: JsonText | undefined;
    let verdict: StepVerdict = 'busy';
    try {
      verdict = await commitWith(async (manager) => {
        result = await body(manager);
        if (reader.over || host.aborted) return undefined;
        orders = order.takeUnwritten();
        seq = order.begin();
        const outcome = { kind: 'completed', result } as const;
        return { op: 'finish', key, kind, begun: false, outcome, seq, effect: null, orders };
      });
    } finally {
      if (verdict !== 'written') {
        if (seq !== undefined) order.written(seq);
        order.giveBack(orders);
      }
    }
    return { verdict, result, seq };
  }

  /** Freed and settled in one go, else a later outcome could slip by. */
  #recorded(call: AnyCall, outcome: Settled, seq: number): void {
    this.order.written(seq);
    call.row = settledRow(call, outcome, seq);
    this.reader.settle(call);
  }
}

/** What one transaction came to; of one that was rolled back there may be neither result nor place. */
interface Committed {
  readonly verdict: StepVerdict;
  readonly result: JsonText | undefined;
  readonly seq: number | undefined;
}
