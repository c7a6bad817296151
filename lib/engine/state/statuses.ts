export const RUN_STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const STAGE_RUN_STATUSES = [
  'PENDING',
  'RUNNING',
  'SUSPENDED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'SKIPPED',
] as const;
export type StageRunStatus = (typeof STAGE_RUN_STATUSES)[number];

const TERMINAL_RUN: ReadonlySet<RunStatus> = new Set<RunStatus>(['COMPLETED', 'FAILED', 'CANCELLED']);
const TERMINAL_STAGE_RUN: ReadonlySet<StageRunStatus> = new Set<StageRunStatus>([
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'SKIPPED',
]);

export const isTerminalRun = (status: RunStatus): boolean => TERMINAL_RUN.has(status);
export const isTerminalStageRun = (status: StageRunStatus): boolean => TERMINAL_STAGE_RUN.has(status);
