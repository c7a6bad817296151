import type { ChangeDecision, LockedRun, OwnerScope } from '../../engine/ports/index.js';
import { decideCancel, decideRetry } from '../../engine/state/decide.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import {
  RunNotCancellableError,
  RunNotFoundError,
  RunNotRetryableError,
  UndefinedIdError,
} from '../../errors/index.js';
import type { TransactionManager } from '../../interfaces/index.js';
import type { EngineReady } from '../engine-port.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';

export interface CommandRequest {
  readonly runId: string;
  readonly scope: OwnerScope;
  readonly manager?: TransactionManager;
  /** The call, for errors. */
  readonly where: string;
}

export interface CancelRequest extends CommandRequest {
  readonly reason: string | null;
  /** `false` = terminate: no hooks, no compensation (CANCEL-4). */
  readonly hooks: boolean;
}

/** What a decision found: undefined when it changed the run. */
type Refusal = { readonly status: RunStatus; readonly why: string } | undefined;

/** Longer reasons are cut: the reason is shown in lists and told in events. */
const LONGEST_REASON = 1_000;

/** Changes runs under their lock: decides from the row as it is then, and says who was faster otherwise. */
export class RunCommands {
  readonly #ready: EngineReady;
  readonly #joiner: TransactionJoiner;
  readonly #defaultQueue: string;

  constructor(ready: EngineReady, joiner: TransactionJoiner, options: { readonly defaultQueue: string }) {
    this.#ready = ready;
    this.#joiner = joiner;
    this.#defaultQueue = options.defaultQueue;
  }

  /** @throws RunNotFoundError, RunNotCancellableError when the run had ended first */
  async cancel({ reason, hooks, ...request }: CancelRequest): Promise<void> {
    const kept = reason === null ? null : reason.slice(0, LONGEST_REASON);
    const refused = await this.#change(
      request,
      { cancelled: [request.runId], work: hooks },
      ({ row, state }, { definitions, context }) => {
        const transition = decideCancel(definitions.byKey(row.definitionKey), state, kept, hooks, context);
        return transition
          ? { transition, answer: undefined }
          : { transition: null, answer: { status: row.status, why: '' } };
      },
    );
    if (refused) throw new RunNotCancellableError({ runId: request.runId, status: refused.status });
  }

  /** @throws RunNotFoundError, RunNotRetryableError saying why */
  async retry(request: CommandRequest): Promise<void> {
    const refused = await this.#change(request, { work: true }, ({ row, state }, { definitions, context }) => {
      const decision = decideRetry(definitions.byKey(row.definitionKey), state, row.failedNode, context);
      if ('transition' in decision) return { transition: decision.transition, answer: undefined };
      return { transition: null, answer: { status: row.status, why: decision.refused } };
    });
    if (refused) throw new RunNotRetryableError({ runId: request.runId, ...refused });
  }

  async #change(
    { runId, scope, manager, where }: CommandRequest,
    hint: { readonly work?: boolean; readonly cancelled?: readonly string[] },
    decide: (run: LockedRun, engine: DecideInputs) => ChangeDecision<Refusal>,
  ): Promise<Refusal> {
    if (scope === undefined) throw new UndefinedIdError({ what: 'owner', where });
    const engine = await this.#ready();
    const transaction = await this.#joiner.join({ method: where, manager, needsReadCommitted: true });
    const inputs = {
      definitions: engine.definitions,
      context: { nextId: engine.nextId, defaultQueue: this.#defaultQueue },
    };
    const result = await engine.store.changeRun(runId, scope, (run) => decide(run, inputs), transaction);
    if (!result) throw new RunNotFoundError({ runId });
    if (!result.changed) return result.answer;
    const told = result.finished?.awaited ? { ...hint, finished: [runId] } : hint;
    if (transaction) await engine.announceWithin(transaction, told);
    else engine.announce(told);
    return result.answer;
  }
}

interface DecideInputs {
  readonly definitions: Awaited<ReturnType<EngineReady>>['definitions'];
  readonly context: Parameters<typeof decideRetry>[3];
}
