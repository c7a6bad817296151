import { describeFailure, type FailureRecord } from '../codec/index.js';
import { decideRetry, mayBeOfShutdown, type CompiledRetryPolicy } from '../retry/index.js';
import type { LedgerRow, OpenWait } from '../ports/step-store.js';
import { stepOutcome } from './outcome.js';
import type { Replay } from './replay.js';
import type { AnyCall, StepPlan } from './step-call.js';
import { betweenTries, mayTryAgain, triesBefore } from './step-tries.js';

export interface TransactionPlanGiven {
  readonly key: string;
  readonly name: string;
  readonly body: (manager: unknown) => unknown;
  readonly policy: CompiledRetryPolicy;
}

/**
 * `ctx.transaction`: a body in a transaction of the host's, its outcome a row of the same transaction (TX-3).
 *
 * Nothing is begun in the store: the fence at the commit decides. Two bodies at once, after a lost lease, are no harm, for only
 * the one whose attempt still holds the stage can commit. A failure is rolled back first, then recorded by a write of its own.
 */
export class TransactionPlan implements StepPlan<unknown> {
  readonly kind = 'transaction' as const;
  readonly key: string;
  readonly name: string;

  constructor(
    private readonly replay: Replay,
    private readonly given: TransactionPlanGiven,
  ) {
    this.key = given.key;
    this.name = given.name;
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
    const { replay } = this;
    const { host } = replay;
    for (let attempt = triesBefore(call.row) + 1; ; attempt++) {
      const failure = await this.#try(call);
      if (!failure) return;
      // Rolled back, and nobody's: whoever replays the stage begins it anew.
      if (replay.over || host.aborted) return replay.unfenced();
      if (host.draining && mayBeOfShutdown(failure.code)) return replay.handBack();
      const { policy } = this.given;
      const decision = decideRetry({ policy, attempt, failure, budgetFrom: 0, random: host.random });
      const text = JSON.stringify(failure);
      if (!decision.retry) return replay.outcomes.finish(call, { kind: 'failed', failure: text });
      await replay.outcomes.finish(call, { kind: 'again', failure: text, delayMs: decision.delayMs });
      if (!(await mayTryAgain(replay, call, attempt, decision.delayMs))) return;
    }
  }

  /** What it was rolled back for; undefined when it was not, or when that is for the store to say. */
  async #try(call: AnyCall): Promise<FailureRecord | undefined> {
    const { host } = this.replay;
    try {
      await this.replay.outcomes.commit(call, async (manager) => {
        const value = await host.inside(this.name, async () => this.given.body(manager));
        return host.encode(value, `Transaction "${this.name}"`);
      });
      return undefined;
    } catch (error) {
      return describeFailure(error, { now: host.now() });
    }
  }
}
