import { randomUUID } from 'node:crypto';
import type { ApprovalRound, RoundChange, RoundTerms } from '../../engine/approvals/index.js';
import type {
  ApprovalStore,
  Ask,
  AskFilter,
  ChangedRound,
  JoinedTransaction,
  LockedRound,
  NewRound,
  OwnerScope,
  RoundChangeOptions,
  RoundDecision,
  RoundPlace,
} from '../../engine/ports/index.js';
import { approvalRound, ROUND_SIGNAL, type RoundRow } from '../dialects/postgres/statements/approval-rows.js';
import {
  changeValues,
  eventsText,
  openValues,
  type AskRow,
  type VisitRow,
} from '../dialects/postgres/statements/approval-statements.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import { signalValues, type SignalAnswer } from '../dialects/postgres/statements/send-signal.js';
import type { TransactionQuery } from '../engine-pool.js';
import { keepAudit, ofRun } from './audit.js';
import type { StoreContext } from './store-context.js';

/** Rounds of approval: the run first, then what is read of a round and written. */
export class PostgresApprovals implements ApprovalStore {
  constructor(private readonly context: StoreContext) {}

  async findRound(place: RoundPlace): Promise<ApprovalRound | undefined> {
    return this.find((statement, values) => this.context.pool.query(statement, values), place);
  }

  async findRoundBeside({ runId, stageRunId }: RoundPlace): Promise<ApprovalRound | undefined> {
    const { pool, statements, clock } = this.context;
    const [row] = await pool.query<RoundRow>(statements.findRoundBeside, [clock.offsetMs, runId, stageRunId]);
    return row && approvalRound(row);
  }

  async openRound(place: RoundPlace, make: (budget: number) => NewRound): Promise<ApprovalRound | 'ended'> {
    const { pool, statements, clock } = this.context;
    const { runId, stageRunId } = place;
    return pool.transaction(async (query) => {
      await query(statements.lockRunsWait, [[runId]]);
      const [visit] = await query<VisitRow>(statements.readVisit, [runId, stageRunId]);
      if (!visit) return 'ended';
      const standing = await this.find(query, place);
      if (standing) return standing;
      const made = make(visit.budget);
      await query(statements.openRound, openValues(clock.offsetMs, runId, stageRunId, visit.budget, made));
      const opened = (await this.find(query, place))!;
      await query(statements.tellOfRun, [clock.offsetMs, runId, eventsText(made.events(opened))]);
      return opened;
    });
  }

  async changeRound<R>(
    round: { readonly id: string; readonly runId: string },
    scope: OwnerScope,
    decide: (round: LockedRound) => RoundDecision<R>,
    transaction?: JoinedTransaction,
    options: RoundChangeOptions<R> = {},
  ): Promise<ChangedRound<R> | undefined> {
    const { sessions } = this.context;
    const change = (query: TransactionQuery) => this.change(query, round, scope, decide, options);
    return transaction ? sessions.within(scope, round.runId, transaction, change) : sessions.transaction(scope, change);
  }

  async getRound(
    roundId: string,
    scope: OwnerScope,
    transaction?: JoinedTransaction,
  ): Promise<ApprovalRound | undefined> {
    const { sessions } = this.context;
    const read = async (query: TransactionQuery) => {
      const row = await this.read(query, roundId, scope);
      return row && approvalRound(row);
    };
    if (!transaction) return sessions.run(scope, read);
    // Whose it is, under row-level security, its run says.
    const known = 'all' in scope ? await sessions.run(scope, read) : undefined;
    return sessions.within(scope, known?.runId ?? roundId, transaction, read);
  }

  async listAsks({ holder, before, limit }: AskFilter, scope: OwnerScope): Promise<Ask[]> {
    const { sessions, statements, clock } = this.context;
    const values = [scopeValue(scope), clock.offsetMs, holder, before, limit];
    const rows = await sessions.run(scope, (query) => query<AskRow>(statements.listAsks[scopeKind(scope)], values));
    return rows.map(ask);
  }

  private async change<R>(
    query: TransactionQuery,
    { id, runId }: { readonly id: string; readonly runId: string },
    scope: OwnerScope,
    decide: (round: LockedRound) => RoundDecision<R>,
    { audit }: RoundChangeOptions<R>,
  ): Promise<ChangedRound<R> | undefined> {
    const { statements, clock } = this.context;
    const values = [scopeValue(scope), id, runId];
    const [run] = await query<{ ownerId: string | null }>(statements.lockRoundRun[scopeKind(scope)], values);
    const row = run && (await this.read(query, id, scope));
    if (!row) return undefined;
    const round = approvalRound(row);
    const { change, answer } = decide({ round, unended: row.unended, now: row.now });
    if (audit) await keepAudit(this.context, query, [ofRun(audit(answer), runId, run.ownerId)]);
    if (!change) return { answer, resumed: false };
    await query(statements.changeRound, changeValues(clock.offsetMs, round, change));
    if (change.events.length > 0) await query(statements.tellOfRun, [clock.offsetMs, runId, eventsText(change.events)]);
    return { answer, resumed: await this.wake(query, id, runId, change) };
  }

  /** The stage that waits for a round learns of its end; the one that ends its own round by time does not wait. */
  private async wake(query: TransactionQuery, id: string, runId: string, { ended }: RoundChange): Promise<boolean> {
    if (!ended || ended.status === 'expired') return false;
    const { statements, clock } = this.context;
    const signal = {
      id: randomUUID(),
      ownerId: null,
      key: `${ROUND_SIGNAL}${id}`,
      subject: null,
      payload: JSON.stringify(ended.status),
      messageDigest: null,
    };
    const [sent] = await query<SignalAnswer>(statements.sendSignal, [clock.offsetMs, ...signalValues(signal), runId]);
    return sent!.delivered;
  }

  private async read(query: TransactionQuery, id: string, scope: OwnerScope): Promise<RoundRow | undefined> {
    const { statements, clock } = this.context;
    const values = [scopeValue(scope), id, clock.offsetMs];
    const [row] = await query<RoundRow>(statements.getRound[scopeKind(scope)], values);
    return row;
  }

  private async find(query: TransactionQuery, { runId, stageRunId }: RoundPlace): Promise<ApprovalRound | undefined> {
    const { statements, clock } = this.context;
    const [row] = await query<RoundRow>(statements.findRound, [clock.offsetMs, runId, stageRunId]);
    return row && approvalRound(row);
  }
}

function ask({ terms, subjectType, subjectId, ...row }: AskRow): Ask {
  const { comment, stages } = JSON.parse(terms) as RoundTerms;
  const subject = subjectType === null || subjectId === null ? null : { type: subjectType, id: subjectId };
  return { ...row, subject, comment, name: stages[row.stage]!.name };
}
