import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type { AnnotationRow, LogLineRow, StepHistoryRow } from '../../engine/ports/index.js';
import { stepName } from '../../engine/steps/step-key.js';
import { decode, toDate } from './decoded.js';
import type { AnnotationView, LogLineView, StepView } from './run-views.js';

export function toStepView(row: StepHistoryRow): StepView {
  const failure = decode(row.failure, null, `The failure of step ${row.key}`) as FailureRecord | null;
  return {
    name: stepName(row.key),
    key: row.key,
    kind: row.kind as StepView['kind'],
    status: row.status,
    attempt: row.attempt,
    result: row.status === 'completed' ? decode(row.result, undefined, `The result of step ${row.key}`) : undefined,
    error: failure && { code: failure.code, message: failure.message },
    timedOut: row.timedOut,
    dueAt: toDate(row.dueAt),
    waitsFor: row.eventKey,
    childRunId: row.childRunId,
    createdAt: new Date(row.createdAt),
    endedAt: row.status === 'completed' || row.status === 'failed' ? toDate(row.firedAt) : null,
  };
}

export function toLogLineView({ level, message, attempt, createdAt }: LogLineRow): LogLineView {
  return { level, message, attempt, at: new Date(createdAt) };
}

export function toAnnotationView(row: AnnotationRow): AnnotationView {
  return {
    id: row.id,
    runId: row.runId,
    stageRunId: row.stageRunId,
    attempt: row.attempt,
    key: row.key,
    value: decode(row.value, undefined, `The annotation ${row.key}`),
    scope: row.scope,
    actor: decode(row.actor, null, `The actor of annotation ${row.key}`),
    createdAt: new Date(row.createdAt),
  };
}
