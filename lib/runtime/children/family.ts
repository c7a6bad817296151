import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import type { ChangeDecision, FinishedRun, LockedRun, OrphanedRun, WorkflowStore } from '../../engine/ports/index.js';
import { decideCancel } from '../../engine/state/decide.js';
import type { DecideContext } from '../../engine/state/deciding.js';
import { BackgroundLoop } from '../background/background-loop.js';
import type { Outages } from '../background/outages.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { changeKnown } from '../execution/change-known.js';
import type { DefinitionSource } from '../execution/definition-source.js';

export interface FamilyParts {
  readonly store: Pick<WorkflowStore, 'deliverChildren' | 'findOrphans' | 'changeRun' | 'isTransient'>;
  readonly definitions: Pick<DefinitionSource, 'byKey' | 'refresh'>;
  readonly context: DecideContext;
  readonly onDelivered: (children: number) => void;
  readonly onFinished: (runs: readonly FinishedRun[]) => void;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  readonly batch: number;
}

/**
 * What runs owe each other: the ends of children reach the steps that wait for them, and children whose parents have ended
 * are cancelled (STEP-9, CANCEL-3). Both are marked in the transaction that makes them due, so a crash loses neither: the
 * wake pass finds what nobody was kicked for.
 */
export class Family {
  readonly #loop: BackgroundLoop;

  constructor(private readonly parts: FamilyParts) {
    const { store, outages, log } = parts;
    this.#loop = new BackgroundLoop({
      name: 'children',
      work: () => this.runOnce(),
      everyMs: null,
      isTransient: (error) => store.isTransient(error),
      outages,
      log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** A child ended, or a run that may have children did not complete. */
  kick(): void {
    this.#loop.kick();
  }

  /** Rejects with what the store throws. Returns how many ends were delivered and children cancelled. */
  async runOnce(): Promise<{ readonly delivered: number; readonly cancelled: number }> {
    const cancelled = await this.#cancelOrphans();
    return { delivered: await this.#deliver(), cancelled };
  }

  async #deliver(): Promise<number> {
    const { store, batch, onDelivered } = this.parts;
    let delivered = 0;
    for (;;) {
      const page = await store.deliverChildren(batch);
      delivered += page.delivered;
      if (page.delivered > 0) onDelivered(page.delivered);
      // A page of ends that nobody waits for any more is no end; one that is locked as a whole would be the same again.
      if (!page.more || page.told === 0) return delivered;
    }
  }

  async #cancelOrphans(): Promise<number> {
    const { store, batch } = this.parts;
    let cancelled = 0;
    for (;;) {
      const orphans = await store.findOrphans(batch);
      let ended = 0;
      for (const orphan of orphans) if (await this.#cancel(orphan)) ended++;
      cancelled += ended;
      if (ended === 0 || orphans.length === 0) return cancelled;
    }
  }

  /** As its parent was, with hooks or without. Its own children are marked by this, and come in the next round. */
  async #cancel({ runId, parentEnded, terminated }: OrphanedRun): Promise<boolean> {
    const { store, log, onFinished } = this.parts;
    try {
      const result = await changeKnown(store, this.parts.definitions, runId, (run, definition) =>
        this.#decide(run, definition, parentEnded, !terminated),
      );
      if (result?.finished) onFinished([result.finished]);
      return result?.answer ?? false;
    } catch (error) {
      if (store.isTransient(error)) throw error;
      log.error(`Child run ${runId} could not be cancelled: ${errorLine(error)}`, errorStack(error));
      return false;
    }
  }

  #decide(
    { state }: LockedRun,
    definition: CompiledDefinition | undefined,
    parentEnded: OrphanedRun['parentEnded'],
    hooks: boolean,
  ): ChangeDecision<boolean> {
    const { context } = this.parts;
    const transition = decideCancel(definition, state, `Its parent run is ${parentEnded}.`, hooks, context);
    return transition ? { transition, answer: true } : { transition: null, answer: false };
  }
}
