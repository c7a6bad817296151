import type {
  DecideSettled,
  FinishedRun,
  JoinedRecord,
  JoinedTransaction,
  LeaseLimits,
  LinearRecord,
  LostRecord,
  RecordOptions,
  RecordVerdict,
  WorkStore,
} from '../../engine/ports/index.js';
import { isLockTimeout } from '../database-errors.js';
import type { TransactionQuery } from '../engine-pool.js';
import { passedRows, passingRows, recordRows, type RecordAnswer } from '../dialects/postgres/statements/record.js';
import { lossRows, type LossAnswer } from '../dialects/postgres/statements/store-losses.js';
import { outcomeRows, type OutcomeAnswer } from '../dialects/postgres/statements/store-outcomes.js';
import { besideValues } from '../dialects/postgres/statements/write-beside.js';
import { CANCEL, EXECUTE } from '../dialects/postgres/sql.js';
import {
  failureOf,
  fromJoined,
  fromLinear,
  groupByRun,
  settledBy,
  type Attempted,
  type Joinable,
} from './joined-outcomes.js';
import { joined } from './joined.js';
import { isPassing, isPlain, passedAfter, passingRow, recordRow } from './linear.js';
import { failureColumns, outcomeRow } from './outcome-row.js';
import { finishedRun, settle } from './settlement.js';
import type { StoreContext } from './store-context.js';

const BUSY: RecordVerdict = { verdict: 'busy' };
const NOT_FENCED: RecordVerdict = { verdict: 'not-fenced' };
const RECORDED: RecordVerdict = { verdict: 'recorded', handedOff: false, finished: null };
const HANDED_OFF: RecordVerdict = { verdict: 'recorded', handedOff: true, finished: null };

/** Outcomes of attempts: the hot path. */
export class PostgresRecords implements Pick<WorkStore, 'record' | 'settle' | 'recordWithin' | 'reap'> {
  constructor(private readonly context: StoreContext) {}

  async record(records: readonly LinearRecord[], options: RecordOptions = {}): Promise<RecordVerdict[]> {
    const bare: LinearRecord[] = [];
    const laden: LinearRecord[] = [];
    const joined: LinearRecord[] = [];
    // A plain one with nothing beside it is one statement and nothing more.
    for (const record of records) {
      const plain = options.lockTimeoutMs === undefined && isPlain(record);
      (plain ? (record.beside ? laden : bare) : joined).push(record);
    }
    if (bare.length === records.length) return this.recordPlain(records);
    const verdicts = new Map<LinearRecord, RecordVerdict>();
    const keep = (part: readonly LinearRecord[], answers: readonly RecordVerdict[]): void =>
      answers.forEach((verdict, index) => verdicts.set(part[index]!, verdict));
    if (bare.length > 0) keep(bare, await this.recordPlain(bare));
    if (laden.length > 0) keep(laden, await this.recordLaden(laden));
    keep(joined, await this.recordJoined(joined.map(fromLinear), options));
    return records.map((record) => verdicts.get(record)!);
  }

  async settle(
    records: readonly JoinedRecord[],
    decide: DecideSettled,
    options: RecordOptions = {},
  ): Promise<RecordVerdict[]> {
    return this.recordJoined(
      records.map((record) => fromJoined(record, decide)),
      options,
    );
  }

  /** Locks first, then writes: the fence is read in a snapshot that follows both locks. */
  async recordWithin(
    record: LinearRecord | JoinedRecord,
    decide: DecideSettled,
    transaction: JoinedTransaction,
  ): Promise<RecordVerdict> {
    const query = joined(transaction);
    const { runId, stageRunId } = record.lease;
    const { pool, statements } = this.context;
    await query(statements.lockAttempt, [runId, stageRunId, pool.sendMs]);
    const joinable = 'transition' in record ? fromLinear(record) : fromJoined(record, decide);
    const [verdict] = await this.storeJoined(query, [joinable], true);
    return verdict!;
  }

  async reap(records: readonly LostRecord[], { staleMs, capMs }: LeaseLimits, decide: DecideSettled): Promise<number> {
    if (records.length === 0) return 0;
    const { pool, statements, clock } = this.context;
    return pool.transaction(async (query) => {
      const answers = await query<LossAnswer>(statements.storeLosses, [
        clock.offsetMs,
        staleMs,
        capMs,
        ...lossRows.values(records.map(lossRow)),
      ]);
      const ended = records.flatMap((record, index) => (answers[index]!.ok ? [{ ...record, ...answers[index]! }] : []));
      const runs = groupByRun(
        ended
          .filter(({ expired }) => expired.kind === 'execute')
          .map(({ expired: { runId, stageRunId, key }, outcome, events, escalated }) => ({
            runId,
            events,
            settled: outcome.kind === 'failed' ? failureOf(stageRunId, key, outcome.failure, escalated) : null,
          })),
      );
      await settle(query, this.context, runs, decide);
      return ended.length;
    });
  }

  /** The same with what outcomes bring along: a statement more, in one transaction. */
  private recordLaden(records: readonly LinearRecord[]): Promise<RecordVerdict[]> {
    return this.context.pool.transaction(async (query) => {
      const verdicts = await this.recordPlain(records, query);
      await this.writeBeside(
        query,
        records.filter((_, index) => verdicts[index]!.verdict === 'recorded'),
      );
      return verdicts;
    });
  }

  private async writeBeside(query: TransactionQuery, records: readonly Attempted[]): Promise<void> {
    const items = records.flatMap(({ lease: { stageRunId, token }, attempt, beside }) =>
      beside ? [{ stageRunId, token, attempt, beside }] : [],
    );
    if (items.length === 0) return;
    const { statements, clock } = this.context;
    await query(statements.writeBeside, besideValues(clock.offsetMs, items));
  }

  private async recordPlain(
    records: readonly LinearRecord[],
    query: TransactionQuery = (statement, values) => this.context.pool.query(statement, values),
  ): Promise<RecordVerdict[]> {
    const { statements, clock } = this.context;
    const { workerId = '', queues = null } = records.find((record) => record.handOff)?.handOff ?? {};
    const settings = [clock.offsetMs, workerId, queues];
    const rows = records.some(isPassing)
      ? await query<RecordAnswer>(statements.recordPassing, [
          ...settings,
          ...passingRows.values(records.map(passingRow)),
          ...passedRows.values(records.flatMap(passedAfter)),
        ])
      : await query<RecordAnswer>(statements.record, [...settings, ...recordRows.values(records.map(recordRow))]);
    return rows.map((row, index) => {
      if (!row.ok) return row.locked ? NOT_FENCED : BUSY;
      if (row.awaited !== null)
        return {
          verdict: 'recorded',
          handedOff: false,
          finished: finishedRun({
            id: records[index]!.lease.runId,
            status: 'COMPLETED',
            awaited: row.awaited,
            child: row.child ?? false,
          }),
        };
      return row.handed_off ? HANDED_OFF : RECORDED;
    });
  }

  private async recordJoined(records: readonly Joinable[], { lockTimeoutMs }: RecordOptions): Promise<RecordVerdict[]> {
    if (records.length === 0) return [];
    try {
      return await this.context.pool.transaction(
        (query) => this.storeJoined(query, records, lockTimeoutMs !== undefined),
        { lockTimeoutMs },
      );
    } catch (error) {
      if (lockTimeoutMs !== undefined && isLockTimeout(error)) return records.map(() => BUSY);
      throw error;
    }
  }

  /** Outcomes first, then what follows from the rows as they are under the runs' locks (protocols, section 3). */
  private async storeJoined(
    query: TransactionQuery,
    records: readonly Joinable[],
    wait: boolean,
  ): Promise<RecordVerdict[]> {
    const { statements, clock } = this.context;
    const answers = await query<OutcomeAnswer>(wait ? statements.storeOutcomesWait : statements.storeOutcomes, [
      clock.offsetMs,
      ...outcomeRows.values(records.map((record) => outcomeRow(record.lease, record.outcome))),
    ]);
    await this.writeBeside(
      query,
      records.filter((_, index) => answers[index]!.ok),
    );
    const finished = await this.follow(query, records, answers);
    return records.map((record, index) => verdictOf(record, answers[index]!, finished));
  }

  private follow(
    query: TransactionQuery,
    records: readonly Joinable[],
    answers: readonly OutcomeAnswer[],
  ): Promise<Map<string, FinishedRun>> {
    const decided = new Map<string, Joinable['decide']>();
    const stored = records.flatMap((record, index) => {
      const answer = answers[index]!;
      if (!answer.ok) return [];
      decided.set(record.lease.runId, record.decide);
      return [{ runId: record.lease.runId, events: record.events, settled: settledBy(record, answer) }];
    });
    // A node's counter reaches nought once; the branches that ended in this group all report it.
    return settle(query, this.context, groupByRun(stored), (definitionKey, state, events) =>
      decided.get(state.id)!(definitionKey, state, events),
    );
  }
}

/** The run's end is told once: by the first of its records that were stored. */
function verdictOf(
  { lease }: Joinable,
  { ok, locked }: OutcomeAnswer,
  finished: Map<string, FinishedRun>,
): RecordVerdict {
  if (!ok) return locked ? NOT_FENCED : BUSY;
  const end = finished.get(lease.runId);
  if (!end) return RECORDED;
  finished.delete(lease.runId);
  return { verdict: 'recorded', handedOff: false, finished: end };
}

function lossRow({ expired, outcome }: LostRecord) {
  return {
    sid: expired.stageRunId,
    token: expired.token,
    rid: expired.runId,
    jid: expired.jobId,
    kind: expired.kind === 'cancel' ? CANCEL : EXECUTE,
    capped: expired.reason === 'cap',
    status: outcome.kind === 'lost' ? 'PENDING' : 'FAILED',
    ...failureColumns(outcome.failure),
    delay: outcome.kind === 'lost' ? outcome.delayMs : null,
  };
}
