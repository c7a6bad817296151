import { decodeJson } from '../../engine/codec/json.js';
import { formatMessage, type MessageOverrides } from '../../errors/index.js';
import type { AttemptRow, RunDetails, RunHistory, RunRow, StageRunRow } from '../../engine/ports/index.js';
import type { AttemptView, RunFailureView, RunHistoryView, RunSummary, RunView, StageRunView } from './run-views.js';

export function toRunSummary(row: RunRow): RunSummary {
  return {
    id: row.id,
    definition: row.definitionId,
    version: row.definitionVersion,
    status: row.status,
    owner: row.ownerId,
    priority: row.priority,
    queue: row.queue,
    generation: row.generation,
    createdAt: new Date(row.createdAt),
    startedAt: toDate(row.startedAt),
    finishedAt: toDate(row.finishedAt),
    failureCode: row.failureCode,
    failedNode: row.failedNode,
  };
}

/** `messages`: the host's texts, in which failures are told instead of the stored one (FAIL-4). */
export function toRunView(row: RunDetails, messages: MessageOverrides): RunView {
  return {
    ...toRunSummary(row),
    actor: decode(row.actor, null, `The actor of run ${row.id}`),
    input: decodeJson(row.input, `The input of run ${row.id}`),
    output: decode(row.output, undefined, `The output of run ${row.id}`),
    failure: row.failureCode === null ? null : toFailureView(row, row.failureCode, messages),
    cancelReason: row.cancelReason,
  };
}

export function toHistoryView({ run, stageRuns, attempts }: RunHistory, messages: MessageOverrides): RunHistoryView {
  const byStageRun = groupByStageRun(attempts);
  return {
    run: toRunView(run, messages),
    stages: stageRuns.map((stageRun) => toStageRunView(stageRun, byStageRun.get(stageRun.id) ?? [])),
  };
}

function toFailureView(row: RunDetails, code: string, messages: MessageOverrides): RunFailureView {
  const params = decode(row.failureParams, null, `The failure of run ${row.id}`) as Record<string, unknown> | null;
  const message = Object.hasOwn(messages, code)
    ? formatMessage(code, params ?? {}, messages)
    : (row.failureMessage ?? '');
  return { code, message, params, node: row.failedNode };
}

function toStageRunView(row: StageRunRow, attempts: readonly AttemptRow[]): StageRunView {
  return {
    id: row.id,
    key: row.key,
    node: row.node,
    stage: row.stage,
    generation: row.generation,
    visit: row.visit,
    status: row.status,
    attempt: row.attempt,
    losses: row.losses,
    createdAt: new Date(row.createdAt),
    startedAt: toDate(row.startedAt),
    finishedAt: toDate(row.finishedAt),
    skipReason: row.skipReason,
    output: decode(row.output, undefined, `The output of ${row.key}`),
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    failedAttempts: attempts.map(toAttemptView),
  };
}

function toAttemptView(row: AttemptRow): AttemptView {
  return {
    attempt: row.attempt,
    worker: row.workerId,
    startedAt: toDate(row.startedAt),
    endedAt: new Date(row.endedAt),
    durationMs: row.durationMs,
    code: row.code,
    message: row.message,
    stack: row.stack,
    cause: decode(row.cause, null, 'The cause of an attempt'),
  };
}

/** `absent` stands for "not stored"; a stored `null` is a value (fault A13). */
function decode<T>(text: string | null, absent: T, what: string): unknown {
  return text === null ? absent : decodeJson(text, what);
}

function toDate(instant: string | null): Date | null {
  return instant === null ? null : new Date(instant);
}

function groupByStageRun(attempts: readonly AttemptRow[]): Map<string, AttemptRow[]> {
  const groups = new Map<string, AttemptRow[]>();
  for (const attempt of attempts) {
    const group = groups.get(attempt.stageRunId);
    if (group) group.push(attempt);
    else groups.set(attempt.stageRunId, [attempt]);
  }
  return groups;
}
