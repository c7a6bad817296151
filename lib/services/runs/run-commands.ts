import { digest } from '../../engine/codec/digest.js';
import { definitionKey } from '../../engine/definition/compiled-definition.js';
import type { ChangeDecision, ChangeOptions, LockedRun, OwnerScope } from '../../engine/ports/index.js';
import { decideCancel, decideRetry } from '../../engine/state/decide.js';
import { decideMigrate } from '../../engine/state/decide-migrate.js';
import { decideRerun } from '../../engine/state/decide-rerun.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import {
  RunNotCancellableError,
  RunNotFoundError,
  RunNotMigratableError,
  RunNotRerunnableError,
  RunNotRetryableError,
  UndefinedIdError,
} from '../../errors/index.js';
import type { RerunResult, TransactionManager } from '../../interfaces/index.js';
import type { DefinitionLookup, EngineReady } from '../engine-port.js';
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

export interface RerunRequest extends CommandRequest {
  /** Key of the node, or of a stage in it. */
  readonly node: string;
  readonly idempotencyKey?: string;
}

export interface MigrateRequest extends CommandRequest {
  readonly version: number;
}

/** What a decision found that did not change the run. */
interface Refusal {
  readonly status: RunStatus;
  readonly why: string;
}

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
    const refused = await this.#change<Refusal | undefined>(
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
    const refused = await this.#change<Refusal | undefined>(
      request,
      WORK,
      ({ row, state }, { definitions, context }) => {
        const decision = decideRetry(definitions.byKey(row.definitionKey), state, row.failedNode, context);
        if ('transition' in decision) return { transition: decision.transition, answer: undefined };
        return { transition: null, answer: { status: row.status, why: decision.refused } };
      },
    );
    if (refused) throw new RunNotRetryableError({ runId: request.runId, ...refused });
  }

  /** @throws RunNotFoundError, RunNotRerunnableError saying why */
  async rerun({ node, idempotencyKey, ...request }: RerunRequest): Promise<RerunResult> {
    const { runId } = request;
    const key = idempotencyKey === undefined ? undefined : digest(['rerun', runId, node, idempotencyKey]);
    const answer = await this.#change<RerunResult | Refusal>(
      request,
      WORK,
      ({ row, state, repeated }, { definitions, context }) => {
        if (repeated) return { transition: null, answer: { generation: state.generation, duplicate: true } };
        const decision = decideRerun(definitions.byKey(row.definitionKey), state, node, context);
        if ('refused' in decision) return { transition: null, answer: { status: row.status, why: decision.refused } };
        const { transition, generation } = decision;
        return { transition, answer: { generation, duplicate: false } };
      },
      { key },
    );
    if ('why' in answer) throw new RunNotRerunnableError({ runId, node, ...answer });
    return answer;
  }

  /** @throws RunNotFoundError, RunNotMigratableError with everything that stands against it */
  async migrate({ version, ...request }: MigrateRequest): Promise<void> {
    const refused = await this.#change<Refusal | undefined>(
      request,
      WORK,
      ({ row, state }, { definitions }) => {
        const refuse = (why: string) => ({ transition: null, answer: { status: row.status, why } });
        const target = definitions.versions(row.definitionId).find((served) => served.version === version);
        if (!target) return refuse(unserved(definitions, row.definitionId, version));
        const key = definitionKey(target);
        if (key === row.definitionKey) return refuse('It is at that version already.');
        const decision = decideMigrate(target, key, state);
        return 'refused' in decision
          ? refuse(decision.refused)
          : { transition: decision.transition, answer: undefined };
      },
      // What is found PENDING must not begin under the old version before the new one is written.
      { holdJobs: true },
    );
    if (refused) throw new RunNotMigratableError({ runId: request.runId, version, ...refused });
  }

  async #change<R>(
    { runId, scope, manager, where }: CommandRequest,
    hint: { readonly work?: boolean; readonly cancelled?: readonly string[] },
    decide: (run: LockedRun, engine: DecideInputs) => ChangeDecision<R>,
    options: ChangeOptions = {},
  ): Promise<R> {
    if (scope === undefined) throw new UndefinedIdError({ what: 'owner', where });
    const engine = await this.#ready();
    const transaction = await this.#joiner.join({ method: where, manager, needsReadCommitted: true });
    const inputs = {
      definitions: engine.definitions,
      context: { nextId: engine.nextId, defaultQueue: this.#defaultQueue },
    };
    const result = await engine.store.changeRun(runId, scope, (run) => decide(run, inputs), transaction, options);
    if (!result) throw new RunNotFoundError({ runId });
    if (!result.changed) return result.answer;
    const told = result.finished?.awaited ? { ...hint, finished: [runId] } : hint;
    if (transaction) await engine.announceWithin(transaction, told);
    else engine.announce(told);
    return result.answer;
  }
}

const WORK = { work: true } as const;

function unserved(definitions: DefinitionLookup, id: string, version: number): string {
  const versions = definitions.versions(id).map((served) => served.version);
  const served = versions.length === 0 ? 'none' : versions.join(', ');
  return `This build does not serve version ${version} of ${id}; of its versions it serves ${served}.`;
}

interface DecideInputs {
  readonly definitions: DefinitionLookup;
  readonly context: Parameters<typeof decideRetry>[3];
}
