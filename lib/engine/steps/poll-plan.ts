import { describeFailure } from '../codec/index.js';
import { mayBeOfShutdown } from '../retry/index.js';
import type { LedgerRow, OpenWait, StepOutcome } from '../ports/step-store.js';
import type { BodyContext } from './body-plan.js';
import { stepOutcome } from './outcome.js';
import type { Replay } from './replay.js';
import type { AnyCall, StepPlan } from './step-call.js';
import { triesBefore } from './step-tries.js';
import { noWait } from './wait-plan.js';

export interface PollPlanGiven<T> {
  readonly key: string;
  readonly name: string;
  readonly poll: (context: BodyContext) => unknown;
  readonly everyMs: number;
  readonly timeoutMs: number | null;
  readonly outcome: (polled: Polled) => T;
}

/** What is recorded of a poll that ended. */
export type Polled = { readonly value: unknown } | { readonly timedOut: true };

/**
 * `step.waitFor`: asks, and while the answer is no, waits until it is time to ask again. A poll is no step with a lease: it is
 * asked by whoever replays the body, and that is one process at a time.
 */
export class PollPlan<T> implements StepPlan<T> {
  readonly kind = 'poll' as const;
  readonly key: string;
  readonly name: string;

  constructor(
    private readonly replay: Replay,
    private readonly given: PollPlanGiven<T>,
  ) {
    this.key = given.key;
    this.name = given.name;
  }

  begin(call: AnyCall): void {
    this.replay.work(call, () => this.#poll(call));
  }

  wait(): OpenWait {
    const { everyMs, timeoutMs } = this.given;
    return { ...noWait(this.key, 'poll'), due: { inMs: everyMs }, expiresInMs: timeoutMs };
  }

  outcome(row: LedgerRow): T {
    return this.given.outcome(stepOutcome(row) as Polled);
  }

  async #poll(call: AnyCall): Promise<void> {
    const { replay, key, name } = this;
    const { host } = replay;
    const overdue = (call.row?.expiresInMs ?? Infinity) <= 0;
    let outcome: StepOutcome;
    try {
      const attempt = triesBefore(call.row) + 1;
      const context = { abortSignal: host.signal, attempt, idempotencyKey: host.idempotencyKey(key) };
      const value = await host.inside(name, async () => this.given.poll(context));
      if (host.aborted) return replay.unfenced();
      const is = value !== false && value !== null && value !== undefined;
      if (!is && !overdue) return this.#later(call);
      const polled: Polled = is ? { value } : { timedOut: true };
      outcome = { kind: 'completed', result: host.encode(polled, `Step "${name}"`) };
    } catch (error) {
      if (host.aborted) return replay.unfenced();
      const failure = describeFailure(error, { now: host.now() });
      if (host.draining && mayBeOfShutdown(failure.code)) return replay.handBack();
      outcome = { kind: 'failed', failure: JSON.stringify(failure) };
    }
    return replay.outcomes.finish(call, outcome);
  }

  /** Not yet: what stands in the store, if anything does, is an instant that has passed. */
  #later(call: AnyCall): void {
    call.saved = false;
    this.replay.wait(call);
  }
}
