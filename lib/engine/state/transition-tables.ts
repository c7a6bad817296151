import type { RunStatus, StageRunStatus } from './statuses.js';

/**
 * The state charts as data: the only place that says which status may follow which, and by what.
 * docs/state-charts.md draws them; a test compares drawing and table.
 */
export const RUN_TRANSITIONS = {
  begin: { from: ['PENDING'], to: 'RUNNING' },
  complete: { from: ['RUNNING'], to: 'COMPLETED' },
  fail: { from: ['PENDING', 'RUNNING'], to: 'FAILED' },
  cancel: { from: ['PENDING', 'RUNNING'], to: 'CANCELLED' },
  retry: { from: ['FAILED'], to: 'RUNNING' },
  rerun: { from: ['COMPLETED', 'FAILED', 'CANCELLED'], to: 'RUNNING' },
} as const satisfies TransitionTable<RunStatus>;

export const STAGE_RUN_TRANSITIONS = {
  claim: { from: ['PENDING'], to: 'RUNNING' },
  complete: { from: ['RUNNING'], to: 'COMPLETED' },
  skip: { from: ['RUNNING'], to: 'SKIPPED' },
  /** A failed attempt with attempts left. */
  retry: { from: ['RUNNING'], to: 'PENDING' },
  /** A lost lease: requeued, not failed. */
  lose: { from: ['RUNNING'], to: 'PENDING' },
  /** Given back in order: shutdown, or a definition this build lacks. */
  release: { from: ['RUNNING'], to: 'PENDING' },
  suspend: { from: ['RUNNING'], to: 'SUSPENDED' },
  /** What it waits for is there: it is queued. RUNNING = it was there already when the stage was to fall asleep. */
  resume: { from: ['RUNNING', 'SUSPENDED'], to: 'PENDING' },
  /** Its job was lost: it gets another one, once. */
  requeue: { from: ['RUNNING', 'SUSPENDED'], to: 'PENDING' },
  fail: { from: ['RUNNING'], to: 'FAILED' },
  cancel: { from: ['PENDING', 'RUNNING', 'SUSPENDED'], to: 'CANCELLED' },
  /** By a manual retry of the run. */
  reopen: { from: ['FAILED', 'CANCELLED'], to: 'PENDING' },
} as const satisfies TransitionTable<StageRunStatus>;

export type TransitionTable<S extends string> = Readonly<
  Record<string, { readonly from: readonly S[]; readonly to: S }>
>;
export type RunTransition = keyof typeof RUN_TRANSITIONS;
export type StageRunTransition = keyof typeof STAGE_RUN_TRANSITIONS;

/** The status after `name`, or undefined where the chart has no such arrow. */
export function nextRunStatus(from: RunStatus, name: RunTransition): RunStatus | undefined {
  const row: { from: readonly RunStatus[]; to: RunStatus } = RUN_TRANSITIONS[name];
  return row.from.includes(from) ? row.to : undefined;
}

/** The status after `name`, or undefined where the chart has no such arrow. */
export function nextStageRunStatus(from: StageRunStatus, name: StageRunTransition): StageRunStatus | undefined {
  const row: { from: readonly StageRunStatus[]; to: StageRunStatus } = STAGE_RUN_TRANSITIONS[name];
  return row.from.includes(from) ? row.to : undefined;
}
