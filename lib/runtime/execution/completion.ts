import { decodeJson } from '../../engine/codec/index.js';
import type { LedgerRow, OpenWait } from '../../engine/ports/index.js';
import { COMPLETION_KEY, noWait, type Suspension } from '../../engine/steps/index.js';
import { formatDuration, parseDurationMs } from '../../engine/time/index.js';
import { NoCompletionCheckError, StageFailedError, WaitTimeoutError } from '../../errors/index.js';
import type { CompletionCheck } from '../../interfaces/index.js';
import type { AttemptContext } from './attempt-context.js';
import type { Attempt } from './attempt.js';
import type { RunnableStage } from './definition-source.js';
import { completionState, type Suspending } from './suspended.js';

/** What a stage comes to: something to store, or that it waits. */
export type Completion =
  { readonly kind: 'output'; readonly value: unknown } | { readonly kind: 'waits'; readonly wait: OpenWait };

/** Reads the ledger of a stage run. */
export type ReadLedger = (stageRunId: string) => Promise<readonly LedgerRow[]>;

/** The wait of a stage that suspended itself, or null; read once for each attempt. */
export async function completionRow(attempt: Attempt, read: ReadLedger): Promise<LedgerRow | null> {
  const { id, hasLedger } = attempt.job.stageRun;
  if (!hasLedger) return null;
  attempt.completion ??= (await read(id)).find(({ key }) => key === COMPLETION_KEY) ?? null;
  return attempt.completion;
}

/** How an asynchronous stage waits from when `execute` returned `ctx.suspend(…)`. @throws NoCompletionCheckError */
export function beginWaiting(
  stage: RunnableStage,
  key: string,
  { everyMs, maxWaitMs, state }: Suspending,
  maxBytes: number,
): OpenWait {
  if (typeof stage.checkCompletion !== 'function') throw new NoCompletionCheckError({ stage: key });
  const text = completionState({ everyMs, maxWaitMs, state }, `The state of stage ${key}`, maxBytes);
  return { ...WAIT, due: { inMs: everyMs }, expiresInMs: maxWaitMs, state: text };
}

/**
 * Asks a stage that suspended itself whether it is done (WAIT-6). At its limit it is asked once more; then it has timed out
 * (WAIT-5).
 *
 * @throws StageFailedError with the code that it failed with, WaitTimeoutError, what `checkCompletion` throws
 */
export async function checkCompletion(
  stage: RunnableStage,
  key: string,
  row: LedgerRow,
  context: AttemptContext,
  maxBytes: number,
): Promise<Completion> {
  if (typeof stage.checkCompletion !== 'function') throw new NoCompletionCheckError({ stage: key });
  const { everyMs, maxWaitMs, state } = decodeJson(row.state!, `The state of stage ${key}`) as Suspending;
  const answer = (await stage.checkCompletion(state, context)) as CompletionCheck | undefined;
  switch (answer?.status) {
    case 'ready':
      return { kind: 'output', value: answer.output };
    case 'failed':
      throw new StageFailedError(answer.code ?? 'STAGE_FAILED', answer.message);
    case 'pending': {
      if (row.expiresInMs !== null && row.expiresInMs <= 0) {
        throw new WaitTimeoutError({ what: `Stage ${key}`, timeout: formatDuration(maxWaitMs ?? 0) });
      }
      const nextMs = answer.next === undefined ? everyMs : parseDurationMs(answer.next, 'next');
      const next = answer.state === undefined ? state : answer.state;
      const text = completionState({ everyMs, maxWaitMs, state: next }, `The state of stage ${key}`, maxBytes);
      return { kind: 'waits', wait: { ...WAIT, due: { inMs: nextMs }, state: text } };
    }
    default:
      throw new TypeError(
        `checkCompletion of stage ${key} must return { status: 'ready' | 'pending' | 'failed', … }; it returned ${typeof answer}.`,
      );
  }
}

/** The wait of the whole stage, as its body's end. */
export const suspensionOf = (wait: OpenWait, orders: Suspension['orders']): Suspension => ({
  waits: [wait],
  keep: [COMPLETION_KEY],
  orders,
});

const WAIT: OpenWait = noWait(COMPLETION_KEY, 'completion');
