import type {
  ChangeDecision,
  ChangeOptions,
  ChangeResult,
  JoinedTransaction,
  LockedRun,
  OwnerScope,
  RunDetails,
  RunFilter,
  RunHistory,
  RunRow,
  RunStore,
  AnnotationRow,
  AttemptRow,
  LogLineRow,
  StepHistoryRow,
} from '../../engine/ports/index.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import { breaksConnection, isLockTimeout } from '../database-errors.js';
import type { TransactionQuery } from '../engine-pool.js';
import {
  runRow,
  scopeKind,
  scopeValue,
  stageRunRow,
  type CountRow,
  type LockedRunRow,
  type MovementRow,
  type ReadStageRun,
} from '../dialects/postgres/statements/read-statements.js';
import { runState, type StateRow } from '../dialects/postgres/statements/read-states.js';
import { keepAudit, ofRun } from './audit.js';
import { apply } from './settlement.js';
import type { StoreContext } from './store-context.js';

/** As many as the engine's pool may hold dead connections. */
const READ_RETRIES = 3;

/** Operators' changes and everybody's reads. */
export class PostgresRuns implements RunStore {
  constructor(private readonly context: StoreContext) {}

  async changeRun<R>(
    runId: string,
    scope: OwnerScope,
    decide: (run: LockedRun) => ChangeDecision<R>,
    transaction?: JoinedTransaction,
    options: ChangeOptions<R> = {},
  ): Promise<ChangeResult<R> | undefined> {
    const change = (query: TransactionQuery) => this.change(query, runId, scope, decide, options);
    const { sessions } = this.context;
    if (transaction) return sessions.within(scope, runId, transaction, change);
    try {
      return await sessions.transaction(scope, change, options.tries);
    } catch (error) {
      if (options.tries !== undefined && isLockTimeout(error)) return undefined;
      throw error;
    }
  }

  async findRun(runId: string, scope: OwnerScope, transaction?: JoinedTransaction): Promise<RunRow | undefined> {
    const { sessions, statements } = this.context;
    const find = (query: TransactionQuery) =>
      query<RunRow>(statements.findRun[scopeKind(scope)], [scopeValue(scope), runId]);
    const [run] = transaction ? await sessions.within(scope, runId, transaction, find) : await this.read(scope, find);
    return run;
  }

  async getRun(runId: string, scope: OwnerScope): Promise<RunDetails | undefined> {
    return this.read(scope, (query) => this.readRun(query, runId, scope));
  }

  async listRuns({ definitionId, status, subject, before, limit }: RunFilter, scope: OwnerScope): Promise<RunRow[]> {
    const { listRuns, listRunsOfSubject } = this.context.statements;
    const kind = scopeKind(scope);
    const values = [scopeValue(scope), definitionId, status, before, limit];
    return this.read(scope, (query) =>
      subject
        ? query<RunRow>(listRunsOfSubject[kind], [...values, subject.type, subject.id])
        : query<RunRow>(listRuns[kind], values),
    );
  }

  async countRuns(scope: OwnerScope, definitionId?: string): Promise<Partial<Record<RunStatus, number>>> {
    const statement = this.context.statements.countRuns[scopeKind(scope)];
    const rows = await this.read(scope, (query) => query<CountRow>(statement, [scopeValue(scope), definitionId]));
    return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
  }

  async history(runId: string, scope: OwnerScope): Promise<RunHistory | undefined> {
    const { statements } = this.context;
    return this.read(scope, async (query) => {
      const run = await this.readRun(query, runId, scope);
      if (!run) return undefined;
      const stageRuns = (await query<ReadStageRun>(statements.readStageRuns, [runId])).map(stageRunRow);
      const attempts = await query<AttemptRow>(statements.readAttempts, [runId]);
      const steps = await query<StepHistoryRow>(statements.readSteps, [runId]);
      const annotations = await query<AnnotationRow>(statements.readAnnotations, [runId]);
      const lines = await query<LogLineRow>(statements.readLines, [runId]);
      return { run, stageRuns, attempts, steps, annotations, lines };
    });
  }

  async awaitRuns(runIds: readonly string[], scope: OwnerScope): Promise<RunDetails[]> {
    const { sessions, statements } = this.context;
    await sessions.run(scope, (query) => query(statements.markAwaited[scopeKind(scope)], [scopeValue(scope), runIds]));
    // A snapshot of its own: a run that ended while the mark waited is seen here.
    return this.readFinished(runIds, scope);
  }

  async readFinished(runIds: readonly string[], scope: OwnerScope): Promise<RunDetails[]> {
    const statement = this.context.statements.readFinished[scopeKind(scope)];
    return this.read(scope, (query) => query<RunDetails>(statement, [scopeValue(scope), runIds]));
  }

  private async readRun(query: TransactionQuery, runId: string, scope: OwnerScope): Promise<RunDetails | undefined> {
    const statement = this.context.statements.getRun[scopeKind(scope)];
    const [run] = await query<RunDetails>(statement, [scopeValue(scope), runId]);
    return run;
  }

  /**
   * A read, again on another connection where its own broke: after a restart or a failover the pool holds connections that
   * are dead and don't know it yet, and a person who asks for a status has nothing to do with that.
   */
  private async read<T>(scope: OwnerScope, work: (query: TransactionQuery) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.context.sessions.run(scope, work);
      } catch (error) {
        if (tries > READ_RETRIES || !breaksConnection(error)) throw error;
      }
    }
  }

  private async change<R>(
    query: TransactionQuery,
    runId: string,
    scope: OwnerScope,
    decide: (run: LockedRun) => ChangeDecision<R>,
    { key, holdJobs = false, audit }: ChangeOptions<R>,
  ): Promise<ChangeResult<R> | undefined> {
    const { statements, clock } = this.context;
    const [locked] = await query<LockedRunRow>(statements.lockRun[scopeKind(scope)], [
      scopeValue(scope),
      runId,
      clock.offsetMs,
    ]);
    if (!locked) return undefined;
    if (holdJobs) await query(statements.holdJobs, [runId]);
    const [known] = key ? await query(statements.findChangeKey, [key, locked.ownerId]) : [];
    const [state] = await query<StateRow>(statements.readStates, [[runId]]);
    const [movement] = await query<MovementRow>(statements.readMovement, [runId, clock.offsetMs]);
    const decision = decide({
      row: runRow(locked),
      state: runState(state!),
      jobCount: movement!.jobs,
      idleMs: movement!.idle,
      deadlineInMs: locked.deadlineIn,
      repeated: known !== undefined,
    });
    if (audit) await keepAudit(this.context, query, [ofRun(audit(decision.answer), runId, locked.ownerId)]);
    if (!decision.transition) return { answer: decision.answer, changed: false, finished: null };
    if (key) await query(statements.keepChangeKey, [clock.offsetMs, key, runId, locked.ownerId]);
    const finished = await apply(
      query,
      clock.offsetMs,
      [{ runId, transition: decision.transition }],
      statements.applyTransitions,
    );
    return { answer: decision.answer, changed: true, finished: finished.get(runId) ?? null };
  }
}
