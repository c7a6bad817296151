import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type { AnnotationRow, LogLineRow, StageRunRow, StepHistoryRow } from '../../engine/ports/index.js';
import { escalationLevel } from '../../engine/state/escalation-key.js';
import { stepName } from '../../engine/steps/step-key.js';
import { decode, toDate } from './decoded.js';
import type { AnnotationView, EscalationView, LogLineView, StepView } from './run-views.js';

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

/** All but what its attempts did. */
export function toEscalationView(row: StageRunRow): Omit<EscalationView, 'failedAttempts' | 'steps' | 'log'> {
  const output = decode(row.output, undefined, `The output of ${row.key}`);
  const { to = null } = (row.stage === 'notify' || row.stage === 'reassign' ? (output ?? {}) : {}) as {
    readonly to?: readonly string[];
  };
  return {
    id: row.id,
    level: escalationLevel(row.key) ?? 0,
    action: row.stage,
    status: row.status,
    dueAt: toDate(row.dueAt),
    startedAt: toDate(row.startedAt),
    finishedAt: toDate(row.finishedAt),
    attempt: row.attempt,
    outcome: row.outcome,
    to,
    output,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
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
