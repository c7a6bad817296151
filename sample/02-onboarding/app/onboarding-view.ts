import type { RunHistoryView, RunStatus, StageRunView, StepView } from 'nestjs-workflow-engine';
import type { Customer } from '../customers/customer.js';

/** An onboarding as people ask about it. */
export interface OnboardingView {
  readonly id: string;
  readonly customer: Customer;
  readonly status: RunStatus;
  readonly output: unknown;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly cancelReason: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** What it waits for now; what its billing waits for too. */
  readonly waitsFor: readonly WaitView[];
  readonly stages: readonly StageView[];
  readonly annotations: readonly { readonly key: string; readonly value: unknown; readonly at: Date }[];
  /** The child workflow, once there is one. */
  readonly billing: { readonly id: string; readonly status: RunStatus; readonly stages: readonly StageView[] } | null;
}

export interface WaitView {
  readonly stage: string;
  readonly step: string;
  readonly kind: StepView['kind'];
  /** Key of the event, or name of the signal. */
  readonly name: string | null;
  /** When it ends by itself. */
  readonly until: Date | null;
}

export interface StageView {
  readonly stage: string;
  readonly status: StageRunView['status'];
  readonly attempt: number;
  readonly progress: StageRunView['progress'];
  readonly skipReason: string | null;
  readonly steps: readonly Pick<StepView, 'name' | 'kind' | 'status' | 'attempt' | 'timedOut' | 'result' | 'endedAt'>[];
  readonly log: readonly { readonly at: Date; readonly message: string }[];
}

export function toOnboardingView(history: RunHistoryView, billing: RunHistoryView | null): OnboardingView {
  const { run, stages, annotations } = history;
  return {
    id: run.id,
    customer: run.input as Customer,
    status: run.status,
    output: run.output ?? null,
    failure: run.failure && { code: run.failure.code, message: run.failure.message },
    cancelReason: run.cancelReason,
    createdAt: run.createdAt,
    finishedAt: run.finishedAt,
    waitsFor: [...stages, ...(billing?.stages ?? [])].flatMap(toWaitViews),
    stages: stages.map(toStageView),
    annotations: annotations.map(({ key, value, createdAt }) => ({ key, value, at: createdAt })),
    billing: billing && { id: billing.run.id, status: billing.run.status, stages: billing.stages.map(toStageView) },
  };
}

/** The run that a stage of this one waited for as its child. */
export function childOf({ stages }: RunHistoryView): string | undefined {
  return stages.flatMap(({ steps }) => steps).find(({ childRunId }) => childRunId !== null)?.childRunId ?? undefined;
}

function toWaitViews({ key, steps }: StageRunView): WaitView[] {
  const open = steps.filter(({ status }) => status === 'waiting');
  return open.map(({ name, kind, waitsFor, dueAt }) => ({
    stage: key,
    step: name,
    kind,
    name: waitsFor,
    until: dueAt,
  }));
}

function toStageView({ key, status, attempt, progress, skipReason, steps, log }: StageRunView): StageView {
  return {
    stage: key,
    status,
    attempt,
    progress,
    skipReason,
    steps: steps.map((step) => ({
      name: step.name,
      kind: step.kind,
      status: step.status,
      attempt: step.attempt,
      timedOut: step.timedOut,
      result: step.result,
      endedAt: step.endedAt,
    })),
    log: log.map(({ at, message }) => ({ at, message })),
  };
}
