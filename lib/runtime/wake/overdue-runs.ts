import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import type { ChangeDecision, FinishedRun, LockedRun, WorkflowStore } from '../../engine/ports/index.js';
import { decideTimeout } from '../../engine/state/decide.js';
import type { DecideContext } from '../../engine/state/deciding.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { changeKnown } from '../execution/change-known.js';
import type { DefinitionSource } from '../execution/definition-source.js';

export interface OverdueRunsParts {
  readonly store: Pick<WorkflowStore, 'findOverdue' | 'changeRun' | 'isTransient'>;
  readonly definitions: Pick<DefinitionSource, 'byKey' | 'refresh'>;
  readonly context: DecideContext;
  readonly log: RuntimeLog;
  readonly batch: number;
  readonly onFinished: (runs: readonly FinishedRun[]) => void;
}

/** Fails unfinished runs past their deadline RUN_TIMEOUT, with the cascade of a cancel (CANCEL-4). */
export class OverdueRuns {
  constructor(private readonly parts: OverdueRunsParts) {}

  /** Returns how many failed. `aheadMs`: deadlines up to so far ahead of the clock count. Rejects only when the database is away. */
  async runOnce(aheadMs: number): Promise<number> {
    const { store, batch } = this.parts;
    let failed = 0;
    for (;;) {
      const overdue = await store.findOverdue(batch, aheadMs);
      let ended = 0;
      for (const { runId } of overdue) if (await this.#fail(runId, aheadMs)) ended++;
      failed += ended;
      // A page of which nothing could be ended would be the same page again.
      if (overdue.length < batch || ended === 0) return failed;
    }
  }

  async #fail(runId: string, aheadMs: number): Promise<boolean> {
    const { store, log, onFinished } = this.parts;
    try {
      const result = await changeKnown(store, this.parts.definitions, runId, (run, definition) =>
        this.#decide(run, definition, aheadMs),
      );
      if (result?.finished) onFinished([result.finished]);
      return result?.answer ?? false;
    } catch (error) {
      if (store.isTransient(error)) throw error;
      log.error(`Run ${runId} is past its deadline and could not be ended: ${errorLine(error)}`, errorStack(error));
      return false;
    }
  }

  #decide(
    { state, deadlineInMs }: LockedRun,
    definition: CompiledDefinition | undefined,
    aheadMs: number,
  ): ChangeDecision<boolean> {
    const { context } = this.parts;
    const due = deadlineInMs !== null && deadlineInMs <= aheadMs;
    const transition = due ? decideTimeout(definition, state, context) : undefined;
    return transition ? { transition, answer: true } : { transition: null, answer: false };
  }
}
