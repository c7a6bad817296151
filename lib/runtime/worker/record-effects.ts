import type { FinishedRun, Hint } from '../../engine/ports/index.js';
import type { NewStageRun } from '../../engine/state/rows.js';
import type { RecordedOutcome } from './recorder.js';

/** Whom recorded outcomes concern, in this process and in others. All of it hints: polling finds what they miss. */
export interface RecordListeners {
  /** Jobs that are due now and that nobody holds: how many, and in which queues. */
  workAppeared(count: number, queues: ReadonlySet<string>): void;
  /** A job becomes due by itself, in this many milliseconds. */
  delayed(inMs: number): void;
  /** Runs that ended. */
  finished(runs: readonly FinishedRun[]): void;
  /** A wait becomes due by itself, in this many milliseconds. */
  waitDue(inMs: number): void;
  /** Stage runs wait, some of them for events that may lie there already. */
  waiting(stageRunIds: readonly string[]): void;
  /** Rows were written to the outbox. */
  eventsWritten(): void;
  publish(hint: Hint): void;
}

/** Tells what follows from outcomes that were just written. */
export function tellRecorded(recorded: readonly RecordedOutcome[], listeners: RecordListeners): void {
  const queues = new Set<string>();
  const finished: FinishedRun[] = [];
  const waiting: string[] = [];
  let jobs = 0;
  for (const { entry, result } of recorded) {
    if (result.finished) finished.push(result.finished);
    if (entry.lane === 'suspend') {
      if (result.wait?.suspended === false) jobs++;
      else if (result.wait && result.wait.dueInMs !== null) listeners.waitDue(result.wait.dueInMs);
      if (entry.record.waits.some(({ kind }) => kind === 'event')) waiting.push(entry.record.lease.stageRunId);
      continue;
    }
    const { outcome } = entry.record;
    if (outcome.kind === 'retry' || outcome.kind === 'released') {
      if (outcome.delayMs > 0) listeners.delayed(outcome.delayMs);
      else jobs++;
    } else if (entry.lane === 'linear') {
      if (!result.handedOff) jobs += countJobs(entry.record.transition?.stageRuns ?? [], queues);
      // What a joined outcome led to was decided in the store: perhaps a next node, perhaps cancel hooks.
    } else if (!result.finished || result.finished.status === 'FAILED') jobs++;
  }
  listeners.eventsWritten();
  if (waiting.length > 0) listeners.waiting(waiting);
  if (finished.length > 0) tellFinished(finished, listeners);
  if (jobs > 0) listeners.workAppeared(jobs, queues);
}

function countJobs(stageRuns: readonly NewStageRun[], queues: Set<string>): number {
  let jobs = 0;
  for (const { job } of stageRuns) {
    if (!job) continue;
    jobs++;
    queues.add(job.queue);
  }
  return jobs;
}

/** Tells of runs that ended: whoever waits for them, and bodies of theirs that still run somewhere. */
export function tellFinished(finished: readonly FinishedRun[], listeners: RecordListeners): void {
  listeners.finished(finished);
  const awaited = finished.filter((run) => run.awaited).map(({ runId }) => runId);
  // Its other branches may run anywhere.
  const failed = finished.filter(({ status }) => status === 'FAILED').map(({ runId }) => runId);
  if (awaited.length === 0 && failed.length === 0) return;
  listeners.publish({
    ...(awaited.length > 0 && { finished: awaited }),
    ...(failed.length > 0 && { cancelled: failed }),
  });
}
