import { decodeJson } from '../../engine/codec/json.js';
import { formatMessage, type MessageOverrides } from '../../errors/index.js';
import type { AttemptRow, RunDetails, RunHistory, RunRow, StageRunRow, SubjectName } from '../../engine/ports/index.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import { decode, toDate } from './decoded.js';
import { toAnnotationView, toEscalationView, toLogLineView, toStepView } from './read-stage-views.js';
import type { AttemptView, RunFailureView, RunHistoryView, RunSummary, RunView, StageRunView } from './run-views.js';

export function toRunSummary(row: RunRow): RunSummary {
  return {
    id: row.id,
    definition: row.definitionId,
    version: row.definitionVersion,
    status: row.status,
    owner: row.ownerId,
    subject: subjectOf(row),
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

export function subjectOf({ subjectType: type, subjectId: id }: RunRow): SubjectName | null {
  return type === null || id === null ? null : { type, id };
}

/** `messages`: the host's texts, in which failures are told instead of the stored one (FAIL-4). */
export function toRunView(row: RunDetails, messages: MessageOverrides): RunView {
  return {
    ...toRunSummary(row),
    actor: decode(row.actor, null, `The actor of run ${row.id}`),
    input: decodeJson(row.input, `The input of run ${row.id}`),
    output: decode(row.output, undefined, `The output of run ${row.id}`),
    failure: row.failureCode === null ? null : toFailureView(row, row.failureCode, messages),
    waiting: row.waiting,
    cancelReason: row.cancelReason,
  };
}

export function toHistoryView(history: RunHistory, messages: MessageOverrides): RunHistoryView {
  // Waits of a replay for a body that runs elsewhere are the engine's own business.
  const steps = byStageRun(history.steps.filter(({ kind }) => kind !== 'lease'));
  const [attempts, lines] = [byStageRun(history.attempts), byStageRun(history.lines)];
  const workOf = ({ id }: StageRunRow) => ({
    failedAttempts: (attempts.get(id) ?? []).map(toAttemptView),
    steps: (steps.get(id) ?? []).map(toStepView),
    log: (lines.get(id) ?? []).map(toLogLineView),
  });
  const escalations = history.stageRuns.filter(isEscalation);
  return {
    run: toRunView(history.run, messages),
    stages: history.stageRuns
      .filter((stageRun) => !isEscalation(stageRun))
      .map((stageRun) => ({
        ...toStageRunView(stageRun),
        ...workOf(stageRun),
        escalations: escalations
          .filter((one) => isBeside(one, stageRun))
          .map((one) => ({ ...toEscalationView(one), ...workOf(one) })),
      })),
    annotations: history.annotations.map(toAnnotationView),
  };
}

function toFailureView(row: RunDetails, code: string, messages: MessageOverrides): RunFailureView {
  const params = decode(row.failureParams, null, `The failure of run ${row.id}`) as Record<string, unknown> | null;
  const message = Object.hasOwn(messages, code)
    ? formatMessage(code, params ?? {}, messages)
    : (row.failureMessage ?? '');
  return { code, message, params, node: row.failedNode };
}

const isBeside = (escalation: StageRunRow, { generation, node, visit }: StageRunRow): boolean =>
  escalation.generation === generation && escalation.node === node && escalation.visit === visit;

function toStageRunView(row: StageRunRow): Omit<StageRunView, 'failedAttempts' | 'steps' | 'log' | 'escalations'> {
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
    outcome: row.outcome,
    output: decode(row.output, undefined, `The output of ${row.key}`),
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    progress: row.progress,
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

function byStageRun<Row extends { readonly stageRunId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.stageRunId);
    if (group) group.push(row);
    else groups.set(row.stageRunId, [row]);
  }
  return groups;
}
