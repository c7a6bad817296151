import { digest } from '../../engine/codec/digest.js';
import { definitionKey } from '../../engine/definition/compiled-definition.js';
import type { AuditEntry, ChangeDecision, ChangeOptions, LockedRun, OwnerScope } from '../../engine/ports/index.js';
import { decideCancel, decideRetry } from '../../engine/state/decide.js';
import { decideMigrate } from '../../engine/state/decide-migrate.js';
import { decideRerun } from '../../engine/state/decide-rerun.js';
import { withDefinition } from './unmet-definition.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import {
  RunNotCancellableError,
  RunNotFoundError,
  RunNotMigratableError,
  RunNotRerunnableError,
  RunNotRetryableError,
  UndefinedIdError,
} from '../../errors/index.js';
import type { RerunResult, RunOperation, TransactionManager } from '../../interfaces/index.js';
import type { DefinitionLookup, EngineReady } from '../engine-port.js';
import type { Details, Operations } from '../operations/operations.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';
import type { OwnedRuns } from './owned-runs.js';

export interface CommandRequest {
  readonly runId: string;
  readonly scope: OwnerScope;
  readonly manager?: TransactionManager;
  /** The call. */
  readonly where: RunOperation;
  /** Why, as the caller says. */
  readonly reason: string | null;
}

export interface CancelRequest extends CommandRequest {
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

/** Changes runs under their lock: decides from the row as it is then, and says who was faster otherwise. */
export class RunCommands {
  readonly #ready: EngineReady;
  readonly #joiner: TransactionJoiner;
  readonly #operations: Operations;
  readonly #owned: OwnedRuns;
  readonly #defaultQueue: string;

  constructor(
    ready: EngineReady,
    joiner: TransactionJoiner,
    operations: Operations,
    owned: OwnedRuns,
    options: { readonly defaultQueue: string },
  ) {
    this.#ready = ready;
    this.#joiner = joiner;
    this.#operations = operations;
    this.#owned = owned;
    this.#defaultQueue = options.defaultQueue;
  }

  /** @throws RunNotFoundError, RunNotCancellableError when the run had ended first */
  async cancel({ hooks, ...request }: CancelRequest): Promise<void> {
    const refused = await this.#change<Refusal | undefined>(
      request,
      { cancelled: [request.runId], work: hooks },
      ({ row, state }, { definitions, context }) => {
        const transition = decideCancel(definitions.byKey(row.definitionKey), state, request.reason, hooks, context);
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
      { key, details: { node } },
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
      { holdJobs: true, details: { version } },
    );
    if (refused) throw new RunNotMigratableError({ runId: request.runId, version, ...refused });
  }

  async #change<R extends Answer>(
    { runId, scope, manager, where, reason }: CommandRequest,
    hint: { readonly work?: boolean; readonly cancelled?: readonly string[] },
    decide: (run: LockedRun, engine: DecideInputs) => ChangeDecision<R>,
    { details, ...options }: Pick<ChangeOptions, 'key' | 'holdJobs'> & { readonly details?: Details } = {},
  ): Promise<R> {
    if (scope === undefined) throw new UndefinedIdError({ what: 'owner', where });
    const engine = await this.#ready();
    const join = () => this.#joiner.join({ method: where, manager, needsReadCommitted: true });
    const { definitions } = engine;
    const context = { nextId: engine.nextId, defaultQueue: this.#defaultQueue };
    const asked = { operation: where, runId, scope, reason, details, caller: this.#operations.caller() };
    return this.#owned.within({ runId, scope, engine, join }, async (transaction) => {
      const entry = await this.#operations.permit(asked, engine, transaction);
      const audit = (answer: R): AuditEntry => entry(outcomeOf(answer));
      const change = (byKey: DecideInputs['definitions']['byKey']) => {
        const inputs: DecideInputs = { definitions: { byKey, versions: (id) => definitions.versions(id) }, context };
        return engine.store.changeRun(runId, scope, (run) => decide(run, inputs), transaction, { ...options, audit });
      };
      const result = await withDefinition(definitions, () => engine.store.findRun(runId, scope, transaction), change);
      if (!result) throw new RunNotFoundError({ runId });
      if (!result.changed) return result.answer;
      const told = result.finished?.awaited ? { ...hint, finished: [runId] } : hint;
      if (transaction) await engine.announceWithin(transaction, told);
      else engine.announce(told);
      return result.answer;
    });
  }
}

const WORK = { work: true } as const;

type Answer = Refusal | RerunResult | undefined;

/** What the audit says came of a call; nothing where it did what was asked. */
function outcomeOf(answer: Answer): Details | undefined {
  if (answer === undefined) return undefined;
  if ('status' in answer) return { refused: answer.status };
  return answer.duplicate ? { duplicate: true } : { generation: answer.generation };
}

function unserved(definitions: Pick<DefinitionLookup, 'versions'>, id: string, version: number): string {
  const versions = definitions.versions(id).map((served) => served.version);
  const served = versions.length === 0 ? 'none' : versions.join(', ');
  return `This build does not serve version ${version} of ${id}; of its versions it serves ${served}.`;
}

interface DecideInputs {
  readonly definitions: Pick<DefinitionLookup, 'byKey' | 'versions'>;
  readonly context: Parameters<typeof decideRetry>[3];
}
