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
import { breaksConnection } from '../database-errors.js';
import type { Statement } from '../data-source/statement.js';
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
import { joined } from './joined.js';
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
    return transaction ? change(joined(transaction)) : this.context.pool.transaction(change);
  }

  async findRun(runId: string, scope: OwnerScope, transaction?: JoinedTransaction): Promise<RunRow | undefined> {
    const statement = this.context.statements.findRun[scopeKind(scope)];
    const values = [scopeValue(scope), runId];
    const [run] = transaction
      ? await joined(transaction)<RunRow>(statement, values)
      : await this.read<RunRow>(statement, values);
    return run;
  }

  async getRun(runId: string, scope: OwnerScope): Promise<RunDetails | undefined> {
    const { statements } = this.context;
    const [run] = await this.read<RunDetails>(statements.getRun[scopeKind(scope)], [scopeValue(scope), runId]);
    return run;
  }

  async listRuns({ definitionId, status, subject, before, limit }: RunFilter, scope: OwnerScope): Promise<RunRow[]> {
    const { listRuns, listRunsOfSubject } = this.context.statements;
    const kind = scopeKind(scope);
    const values = [scopeValue(scope), definitionId, status, before, limit];
    return subject
      ? this.read<RunRow>(listRunsOfSubject[kind], [...values, subject.type, subject.id])
      : this.read<RunRow>(listRuns[kind], values);
  }

  async countRuns(scope: OwnerScope, definitionId?: string): Promise<Partial<Record<RunStatus, number>>> {
    const { statements } = this.context;
    const rows = await this.read<CountRow>(statements.countRuns[scopeKind(scope)], [scopeValue(scope), definitionId]);
    return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
  }

  async history(runId: string, scope: OwnerScope): Promise<RunHistory | undefined> {
    const { statements } = this.context;
    const run = await this.getRun(runId, scope);
    if (!run) return undefined;
    const stageRuns = (await this.read<ReadStageRun>(statements.readStageRuns, [runId])).map(stageRunRow);
    const attempts = await this.read<AttemptRow>(statements.readAttempts, [runId]);
    const steps = await this.read<StepHistoryRow>(statements.readSteps, [runId]);
    const annotations = await this.read<AnnotationRow>(statements.readAnnotations, [runId]);
    const lines = await this.read<LogLineRow>(statements.readLines, [runId]);
    return { run, stageRuns, attempts, steps, annotations, lines };
  }

  async awaitRuns(runIds: readonly string[], scope: OwnerScope): Promise<RunDetails[]> {
    const { pool, statements } = this.context;
    await pool.query(statements.markAwaited[scopeKind(scope)], [scopeValue(scope), runIds]);
    // A snapshot of its own: a run that ended while the mark waited is seen here.
    return this.readFinished(runIds, scope);
  }

  async readFinished(runIds: readonly string[], scope: OwnerScope): Promise<RunDetails[]> {
    const { statements } = this.context;
    return this.read<RunDetails>(statements.readFinished[scopeKind(scope)], [scopeValue(scope), runIds]);
  }

  /**
   * A read, again on another connection where its own broke: after a restart or a failover the pool holds connections that
   * are dead and don't know it yet, and a person who asks for a status has nothing to do with that.
   */
  private async read<Row>(statement: Statement, values: unknown[]): Promise<Row[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.context.pool.query<Row>(statement, values);
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
    const [known] = key ? await query(statements.findChangeKey, [key]) : [];
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
