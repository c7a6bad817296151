import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import type { ChangeDecision, FinishedRun, LockedRun, WorkflowStore } from '../../engine/ports/index.js';
import { changeKnown } from '../execution/change-known.js';
import type { DefinitionSource } from '../execution/definition-source.js';
import { decideStuck } from '../../engine/state/decide.js';
import type { DecideContext } from '../../engine/state/deciding.js';
import { formatDuration } from '../../engine/time/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';

export interface StuckRunsParts {
  readonly store: Pick<WorkflowStore, 'findStuck' | 'changeRun' | 'isTransient'>;
  readonly definitions: Pick<DefinitionSource, 'byKey' | 'refresh'>;
  readonly context: DecideContext;
  readonly log: RuntimeLog;
  readonly stuckAfterMs: number;
  /** Unfinished runs looked at in one pass. */
  readonly batch: number;
  readonly onFinished: (runs: readonly FinishedRun[]) => void;
}

export interface StuckReport {
  readonly requeued: number;
  readonly failed: number;
}

type StuckAnswer = { readonly requeued: number; readonly failed: boolean };

/**
 * Finds RUNNING runs that nothing moves any more: those whose job was lost are queued again, once, the others fail
 * STUCK_RUN_REAPED (STUCK-1). A pass looks at a slice of the unfinished runs and goes on there in the next one.
 */
export class StuckRuns {
  #after: string | null = null;

  constructor(private readonly parts: StuckRunsParts) {}

  /** Rejects only when the database is away: a run that can't be dealt with keeps nobody from the slice. */
  async runOnce(): Promise<StuckReport> {
    const { store, stuckAfterMs, batch } = this.parts;
    const { runIds, next } = await store.findStuck(stuckAfterMs, this.#after, batch);
    let requeued = 0;
    let failed = 0;
    for (const runId of runIds) {
      const answer = await this.#reap(runId);
      requeued += answer.requeued;
      if (answer.failed) failed++;
    }
    this.#after = next;
    return { requeued, failed };
  }

  async #reap(runId: string): Promise<StuckAnswer> {
    const { store, log, onFinished } = this.parts;
    try {
      const result = await changeKnown(store, this.parts.definitions, runId, (run, definition) =>
        this.#decide(run, definition),
      );
      if (result?.finished) onFinished([result.finished]);
      return result?.answer ?? UNTOUCHED;
    } catch (error) {
      if (store.isTransient(error)) throw error;
      log.error(`Run ${runId} seems stuck and could not be dealt with: ${errorLine(error)}`, errorStack(error));
      return UNTOUCHED;
    }
  }

  /** Judges anew, under the lock: it may have moved since it was found. */
  #decide(
    { state, jobCount, idleMs }: LockedRun,
    definition: CompiledDefinition | undefined,
  ): ChangeDecision<StuckAnswer> {
    const { context, stuckAfterMs } = this.parts;
    if (state.status !== 'RUNNING' || jobCount > 0 || idleMs <= stuckAfterMs)
      return { transition: null, answer: UNTOUCHED };
    const { transition, requeued } = decideStuck(definition, state, formatDuration(stuckAfterMs), context);
    return { transition, answer: { requeued, failed: transition.run !== null } };
  }
}

const UNTOUCHED: StuckAnswer = Object.freeze({ requeued: 0, failed: false });
