import { describeFailure } from '../codec/index.js';
import { mayBeOfShutdown } from '../retry/index.js';
import type { LedgerRow, OpenWait, StepOutcome } from '../ports/step-store.js';
import { stepOutcome } from './outcome.js';
import type { Replay } from './replay.js';
import type { AnyCall, StepPlan } from './step-call.js';
import { noWait } from './wait-plan.js';

export interface ChildPlanGiven {
  readonly key: string;
  readonly name: string;
  readonly waits: boolean;
  /**
   * Starts the child, or finds the one that an earlier attempt started. Rejects when it can't be started.
   *
   * @param failed the child that failed before, when the stage's retry opened this step again: another one takes its place
   */
  readonly start: (failed: string | null) => Promise<{ readonly runId: string }>;
}

/** `step.runWorkflow`: starts a child and, where it is waited for, waits for its end (STEP-9). */
export class ChildPlan implements StepPlan<unknown> {
  readonly kind = 'child' as const;
  readonly key: string;
  readonly name: string;
  #childRunId: string | undefined;

  constructor(
    private readonly replay: Replay,
    private readonly given: ChildPlanGiven,
  ) {
    this.key = given.key;
    this.name = given.name;
  }

  begin(call: AnyCall): void {
    this.replay.work(call, () => this.#start(call));
  }

  wait(call: AnyCall): OpenWait {
    const childRunId = this.#childRunId ?? call.row?.childRunId ?? null;
    return { ...noWait(this.key, 'child'), dueIfNew: true, childRunId };
  }

  outcome(row: LedgerRow): unknown {
    return stepOutcome(row);
  }

  async #start(call: AnyCall): Promise<void> {
    const { replay } = this;
    let outcome: StepOutcome;
    try {
      const failed = call.row?.status === 'failed' ? call.row.childRunId : null;
      const { runId } = await this.given.start(failed);
      this.#childRunId = runId;
      if (this.given.waits && !replay.host.aborted) return replay.wait(call);
      outcome = { kind: 'completed', result: JSON.stringify({ runId }) };
    } catch (error) {
      const failure = describeFailure(error, { now: replay.host.now() });
      if (replay.host.draining && mayBeOfShutdown(failure.code)) return replay.handBack();
      // A child that can't start is a failed child with its cause (fault K5).
      outcome = { kind: 'failed', failure: JSON.stringify(failure) };
    }
    if (replay.host.aborted) return replay.unfenced();
    return replay.outcomes.finish(call, outcome);
  }
}
