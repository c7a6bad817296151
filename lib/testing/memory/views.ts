import type { AnnotationRow } from '../../engine/ports/annotation-store.js';
import type {
  AttemptRow,
  LogLineRow,
  RunDetails,
  RunRow,
  StageRunRow,
  StepHistoryRow,
} from '../../engine/ports/run-store.js';
import type { AttemptRecord, RunRecord, StageRunRecord } from './records.js';
import type { AnnotationRecord, LogLineRecord, StepRecord } from './step-records.js';

export const instant = (ms: number): string => new Date(ms).toISOString();
export const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export const runRow = (run: RunRecord): RunRow => ({
  id: run.id,
  definitionId: run.definitionId,
  definitionVersion: run.definitionVersion,
  definitionKey: run.definitionKey,
  status: run.status,
  ownerId: run.ownerId,
  subjectType: run.subject?.type ?? null,
  subjectId: run.subject?.id ?? null,
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

/** @param waiting all that is open of it is suspended */
export const runDetails = (run: RunRecord, waiting: boolean): RunDetails => ({
  ...runRow(run),
  input: run.input,
  output: run.output,
  failureParams: run.failureParams,
  waiting,
});

export const stageRunRow = (row: StageRunRecord, dueAt: number | null): StageRunRow => ({
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
  outcome: row.outcome,
  progress: row.progress,
  dueAt: instantOrNull(dueAt),
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

export const stepHistoryRow = (row: StepRecord): StepHistoryRow => ({
  stageRunId: row.stageRunId,
  key: row.key,
  kind: row.kind,
  status: row.status,
  seq: row.seq,
  attempt: row.attempt,
  result: row.result,
  failure: row.failure,
  timedOut: row.timedOut,
  dueAt: instantOrNull(row.dueAt),
  eventKey: row.eventKey,
  childRunId: row.childRunId,
  createdAt: instant(row.createdAt),
  firedAt: instantOrNull(row.firedAt),
});

export const annotationRow = (row: AnnotationRecord): AnnotationRow => ({
  id: row.id,
  runId: row.runId,
  stageRunId: row.stageRunId,
  attempt: row.attempt,
  key: row.key,
  value: row.value,
  scope: row.scope,
  actor: row.actor,
  createdAt: instant(row.createdAt),
});

export const logLineRow = (row: LogLineRecord): LogLineRow => ({
  id: row.id,
  stageRunId: row.stageRunId,
  attempt: row.attempt,
  level: row.level,
  message: row.message,
  createdAt: instant(row.createdAt),
});
