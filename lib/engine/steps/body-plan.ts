import { describeFailure, type FailureRecord } from '../codec/index.js';
import { decideRetry, mayBeOfShutdown, type CompiledRetryPolicy } from '../retry/index.js';
import type { LedgerRow, OpenWait, StepOutcome } from '../ports/step-store.js';
import { stepOutcome } from './outcome.js';
import type { Replay } from './replay.js';
import type { AnyCall, StepPlan } from './step-call.js';
import { betweenTries, mayTryAgain, triesBefore } from './step-tries.js';

/** What a step's body is given. */
export interface BodyContext {
  readonly abortSignal: AbortSignal;
  /** Number of this try, from 1. */
  readonly attempt: number;
  /** The same for every try of this step, and of no other. */
  readonly idempotencyKey: string;
}

export interface BodyPlanGiven {
  readonly key: string;
  readonly name: string;
  readonly kind: 'run' | 'once';
  readonly body: (context: BodyContext) => unknown;
  readonly policy: CompiledRetryPolicy;
  readonly leaseMs: number;
}

/**
 * `step.run` and `ctx.once`: a body that runs under a lease of its own, its outcome written once (STEP-1, STEP-6, STEP-8).
 *
 * Begun in the store before it begins here, so that no second body begins while this one may still be at it.
 */
export class BodyPlan implements StepPlan<unknown> {
  readonly key: string;
  readonly name: string;
  readonly kind: 'run' | 'once';

  constructor(
    private readonly replay: Replay,
    private readonly given: BodyPlanGiven,
  ) {
    this.key = given.key;
    this.name = given.name;
    this.kind = given.kind;
  }

  begin(call: AnyCall): void {
    this.replay.work(call, () => this.#run(call));
  }

  wait(): OpenWait {
    return betweenTries(this.key, this.kind);
  }

  outcome(row: LedgerRow): unknown {
    return stepOutcome(row);
  }

  async #run(call: AnyCall): Promise<void> {
    const { replay, key, kind } = this;
    const { leaseMs } = this.given;
    let effect: Buffer | null = null;
    if (kind === 'once') {
      const kept = await replay.host.journal.readEffect(this.name);
      if (kept.result !== undefined) return replay.outcomes.finish(call, { kind: 'completed', result: kept.result });
      effect = kept.digest;
    }
    for (let attempt = triesBefore(call.row) + 1; ; attempt++) {
      const verdict = await replay.outcomes.write({ op: 'begin', key, kind, leaseMs, orders: [] });
      if (verdict === 'not-fenced') return replay.unfenced();
      if (verdict !== 'written') return replay.reread(call);
      const hold = replay.host.holding(key, leaseMs);
      try {
        const outcome = await this.#outcomeOf(attempt);
        if (!outcome) return replay.handBack();
        // Another worker may be at it: what this body came to is for nobody.
        if (replay.host.aborted === 'lease-lost') return replay.unfenced();
        await replay.outcomes.finish(call, outcome, { begun: true, effect });
        if (outcome.kind !== 'again' || !(await mayTryAgain(replay, call, attempt, outcome.delayMs))) return;
      } finally {
        hold.done();
      }
    }
  }

  /**
   * The attempt was over before its body was: a time limit, a shutdown, another step that failed. What the body failed with is
   * then no outcome of the step's, which whoever replays it begins again; delivered there, it would fail that attempt too.
   */
  get #isCutOff(): boolean {
    return this.replay.over || this.replay.host.signal.aborted;
  }

  async #outcomeOf(attempt: number): Promise<StepOutcome | undefined> {
    const { host } = this.replay;
    let failure: FailureRecord;
    try {
      const context = { abortSignal: host.signal, attempt, idempotencyKey: host.idempotencyKey(this.key) };
      const value = await host.inside(this.name, async () => this.given.body(context));
      if (host.aborted !== 'cancelled') {
        return { kind: 'completed', result: host.encode(value, `Step "${this.name}"`) };
      }
      failure = describeFailure(host.signal.reason);
    } catch (error) {
      failure = describeFailure(host.aborted === 'cancelled' ? host.signal.reason : error, { now: host.now() });
    }
    if (host.draining && host.aborted === undefined && mayBeOfShutdown(failure.code)) return undefined;
    const { policy } = this.given;
    const decision = decideRetry({ policy, attempt, failure, budgetFrom: 0, random: host.random });
    const text = JSON.stringify(failure);
    if (host.aborted === undefined && (decision.retry || this.#isCutOff)) {
      return { kind: 'again', failure: text, delayMs: decision.retry ? decision.delayMs : 0 };
    }
    return { kind: 'failed', failure: text };
  }
}
