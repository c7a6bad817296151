import type { AttemptRow, RunDetails, RunRow, StageRunRow } from '../../engine/ports/run-store.js';
import type { AttemptRecord, RunRecord, StageRunRecord } from './records.js';

export const instant = (ms: number): string => new Date(ms).toISOString();
const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export const runRow = (run: RunRecord): RunRow => ({
  id: run.id,
  definitionId: run.definitionId,
  definitionVersion: run.definitionVersion,
  definitionKey: run.definitionKey,
  status: run.status,
  ownerId: run.ownerId,
  actor: run.actor,
  generation: run.generation,
  priority: run.priority,
  queue: run.queue,
  createdAt: instant(run.createdAt),
  startedAt: instantOrNull(run.startedAt),
  finishedAt: instantOrNull(run.finishedAt),
  failureCode: run.failureCode,
  failureMessage: run.failureMessage,
  failedNode: run.failedNode,
  cancelReason: run.cancelReason,
});

export const runDetails = (run: RunRecord): RunDetails => ({
  ...runRow(run),
  input: run.input,
  output: run.output,
  failureParams: run.failureParams,
});

export const stageRunRow = (row: StageRunRecord): StageRunRow => ({
  id: row.id,
  runId: row.runId,
  generation: row.generation,
  node: row.node,
  key: row.key,
  stage: row.stage,
  visit: row.visit,
  position: row.position,
  ordinal: row.ordinal,
  status: row.status,
  attempt: row.attempt,
  losses: row.losses,
  createdAt: instant(row.createdAt),
  startedAt: instantOrNull(row.startedAt),
  finishedAt: instantOrNull(row.finishedAt),
  skipReason: row.skipReason,
  errorCode: row.errorCode,
  errorMessage: row.errorMessage,
  output: row.output,
});

export const attemptRow = (row: AttemptRecord): AttemptRow => ({
  stageRunId: row.stageRunId,
  attempt: row.attempt,
  workerId: row.workerId,
  startedAt: instantOrNull(row.startedAt),
  endedAt: instant(row.endedAt),
  durationMs: row.startedAt === null ? null : row.endedAt - row.startedAt,
  code: row.code,
  message: row.message,
  stack: row.stack,
  cause: row.cause,
});
