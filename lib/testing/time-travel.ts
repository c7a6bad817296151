import type { WorkflowRuntime } from '../composition/workflow-runtime.js';
import type { WakeReport } from '../runtime/wake/wake-report.js';
import type { DrainReport } from './workflow-tester.js';

/** Rounds after which a drain is taken to go on for ever. */
const MOST_ROUNDS = 10_000;
/** Jobs in one round. */
const MOST_JOBS = 10_000;
/** A little past an instant: rounding must not leave us just before it. */
const MARGIN_MS = 1;
/** No lease, run or key is looked at by a probe that only asks for the next delayed job. */
const NEVER_MS = 100 * 365 * 86_400_000;

/** Moves an engine that does not move by itself: by draining it, and by moving its clock. */
export class TimeTravel {
  constructor(private readonly runtime: Pick<WorkflowRuntime, 'ready' | 'touched'>) {}

  async drain(): Promise<DrainReport> {
    const engine = await this.runtime.ready();
    let processed = 0;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await this.runtime.touched();
      const report = await engine.runtime.pass.wake();
      if (report.errors.length > 0)
        throw new Error(
          `A wake pass failed: ${report.errors.map(({ part, message }) => `${part}: ${message}`).join('; ')}`,
        );
      // Whoever stored an event or a wait a moment ago may be about to match them: nothing is left to chance here.
      const matched = await engine.runtime.matcher.sweep(0);
      const { processed: ran } = await engine.processAvailable({ max: MOST_JOBS });
      processed += ran;
      if (ran === 0 && matched === 0 && didNothing(report)) return { processed };
    }
    throw new Error(
      `Something was still due after ${MOST_ROUNDS} rounds: a workflow, or an event handler, starts work without end.`,
    );
  }

  /** Steps from one due instant to the next, so that what a retry schedules within the journey happens in it too. */
  async forward(ms: number): Promise<DrainReport> {
    const { store } = await this.runtime.ready();
    let { processed } = await this.drain();
    let left = ms;
    while (left > 0) {
      const { nextDelayedInMs, nextWaitInMs, nextScheduleInMs } = await store.probe({
        staleMs: NEVER_MS,
        capMs: 0,
        stuckAfterMs: NEVER_MS,
        requeueAfterMs: NEVER_MS,
        eventRetentionMs: NEVER_MS,
        aheadMs: 0,
      });
      // A schedule that is due after a drain is one that this process cannot serve: its lease has to run out.
      const nextSchedule = nextScheduleInMs !== null && nextScheduleInMs > 0 ? nextScheduleInMs : Infinity;
      const next = Math.min(nextDelayedInMs ?? Infinity, nextWaitInMs ?? Infinity, nextSchedule);
      const step = Math.min(left, Math.max(0, next) + MARGIN_MS);
      store.clockOffsetMs += step;
      left -= step;
      processed += (await this.drain()).processed;
    }
    return { processed };
  }
}

function didNothing({ errors: _errors, ...counts }: WakeReport): boolean {
  return Object.values(counts).every((count) => count === 0);
}
