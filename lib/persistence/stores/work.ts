import type {
  ClaimedJob,
  ClaimRequest,
  ClaimResult,
  DecideSettled,
  DiscardedJob,
  ExpiredLease,
  Fence,
  FinishedRun,
  JoinedRecord,
  Lease,
  LeaseLimits,
  LeaseState,
  LinearRecord,
  LostRecord,
  RecordOptions,
  RecordVerdict,
  SettleEvent,
  UnsentJob,
  WorkStore,
} from '../../engine/ports/index.js';
import type { EngineEvent, StageOutcome, Transition } from '../../engine/state/rows.js';
import { isLockTimeout } from '../database-errors.js';
import type { TransactionQuery } from '../engine-pool.js';
import { claimedJob, type ClaimedRow } from '../dialects/postgres/statements/claimed-row.js';
import { claimValues } from '../dialects/postgres/statements/claim.js';
import {
  expiredLease,
  leaseState,
  leaseValues,
  type ExpiredRow,
  type ExtendedRow,
} from '../dialects/postgres/statements/lease-statements.js';
import { recordRows, type RecordAnswer } from '../dialects/postgres/statements/record.js';
import { unsentJob, type UnsentRow } from '../dialects/postgres/statements/send-statements.js';
import { lossRows, type LossAnswer } from '../dialects/postgres/statements/store-losses.js';
import { outcomeRows, type OutcomeAnswer } from '../dialects/postgres/statements/store-outcomes.js';
import { besideValues } from '../dialects/postgres/statements/write-beside.js';
import { CANCEL, EXECUTE } from '../dialects/postgres/sql.js';
import { isBare, isPlain, recordRow } from './linear.js';
import { setLockTimeout } from './lock-timeout.js';
import { failureColumns, outcomeRow } from './outcome-row.js';
import { finishedRun, settle, type RunOutcomes } from './settlement.js';
import type { StoreContext } from './store-context.js';

const ANY_ATTEMPT = { kind: 'execute', attempt: null } as const;
const BUSY: RecordVerdict = { verdict: 'busy' };
const NOT_FENCED: RecordVerdict = { verdict: 'not-fenced' };
const RECORDED: RecordVerdict = { verdict: 'recorded', handedOff: false, finished: null };
const HANDED_OFF: RecordVerdict = { verdict: 'recorded', handedOff: true, finished: null };

/** Claims, records and leases: the hot path. */
export class PostgresWork implements WorkStore {
  constructor(private readonly context: StoreContext) {}

  async claim({ workerId, limit, queues, unserved }: ClaimRequest): Promise<ClaimResult> {
    const { pool, statements, clock } = this.context;
    const rows = await pool.query<ClaimedRow>(
      statements.claim,
      claimValues(clock.offsetMs, workerId, limit, unserved, queues),
    );
    return {
      claimed: rows.filter((row) => row.taken).map(claimedJob),
      discarded: rows.filter((row) => !row.taken).map(discardedJob),
    };
  }

  async takeUnsent(limit: number): Promise<UnsentJob[]> {
    const { pool, statements, clock } = this.context;
    return (await pool.query<UnsentRow>(statements.takeUnsent, [clock.offsetMs, limit])).map(unsentJob);
  }

  async claimStageRun(
    stageRunId: string,
    workerId: string,
    { kind, attempt }: NonNullable<Parameters<WorkStore['claimStageRun']>[2]> = ANY_ATTEMPT,
  ): Promise<ClaimedJob | 'race' | 'orphan' | 'duplicate'> {
    const { pool, statements, clock } = this.context;
    const [row] = await pool.query<ClaimedRow>(statements.claimStageRun, [
      ...claimValues(clock.offsetMs, workerId, stageRunId, [], null),
      kind === 'cancel' ? CANCEL : EXECUTE,
      attempt,
    ]);
    if (row?.taken) return claimedJob(row);
    if (row) return discardedJob(row).ghost;
    // Its run has ended: that is what a cancel hook is for.
    if (kind === 'cancel') return 'duplicate';
    const [fence] = await this.readFences([stageRunId]);
    if (!fence) return 'race';
    return fence.runStatus === 'RUNNING' || fence.runStatus === 'PENDING' ? 'duplicate' : 'orphan';
  }

  async record(records: readonly LinearRecord[], options: RecordOptions = {}): Promise<RecordVerdict[]> {
    if (options.lockTimeoutMs === undefined && records.every(isBare)) return this.recordPlain(records);
    const bare = options.lockTimeoutMs === undefined ? records.filter(isBare) : [];
    const laden =
      options.lockTimeoutMs === undefined ? records.filter((record) => isPlain(record) && record.beside) : [];
    const joined = records.filter((record) => !bare.includes(record) && !laden.includes(record));
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

  async readFences(stageRunIds: readonly string[]): Promise<Fence[]> {
    const { pool, statements } = this.context;
    const rows = await pool.query<{
      id: string;
      status: Fence['status'];
      token: string | null;
      run_status: Fence['runStatus'];
    }>(statements.readFences, [stageRunIds]);
    return rows.map((row) => ({ stageRunId: row.id, status: row.status, token: row.token, runStatus: row.run_status }));
  }

  async extendLeases(leases: readonly Lease[]): Promise<Map<string, LeaseState>> {
    if (leases.length === 0) return new Map();
    const { pool, statements, clock } = this.context;
    const rows = await pool.query<ExtendedRow>(statements.extendLeases, leaseValues(clock.offsetMs, leases));
    return new Map(rows.map((row) => [row.id, leaseState(row)]));
  }

  async finishCancelJob({ jobId, token }: Lease, retryInMs: number | null): Promise<boolean> {
    const { pool, statements, clock } = this.context;
    const rows =
      retryInMs === null
        ? await pool.query(statements.finishCancelJob, [jobId, token])
        : await pool.query(statements.delayCancelJob, [clock.offsetMs, jobId, token, retryInMs]);
    return rows.length > 0;
  }

  async addCancelJob({ stageRunId }: Lease, jobId: string, queue: string): Promise<void> {
    const { pool, statements, clock } = this.context;
    await pool.query(statements.addCancelJob, [clock.offsetMs, jobId, stageRunId, queue]);
  }

  async findExpired({ staleMs, capMs }: LeaseLimits, limit: number): Promise<ExpiredLease[]> {
    const { pool, statements, clock } = this.context;
    return (await pool.query<ExpiredRow>(statements.findExpired, [clock.offsetMs, staleMs, capMs, limit])).map(
      expiredLease,
    );
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
      const ended = records.filter((_, index) => answers[index]!.ok);
      const runs = groupByRun(
        ended
          .filter(({ expired }) => expired.kind === 'execute')
          .map(({ expired, outcome, events }) => ({
            runId: expired.runId,
            events,
            settled:
              outcome.kind === 'failed'
                ? {
                    type: 'stage-failed' as const,
                    stageRunId: expired.stageRunId,
                    key: expired.key,
                    failure: outcome.failure,
                  }
                : null,
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
    const rows = await query<RecordAnswer>(statements.record, [
      clock.offsetMs,
      workerId,
      queues,
      ...recordRows.values(records.map(recordRow)),
    ]);
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

  /** Outcomes first, then what follows from the rows as they are under the runs' locks (protocols, section 3). */
  private async recordJoined(records: readonly Joinable[], { lockTimeoutMs }: RecordOptions): Promise<RecordVerdict[]> {
    if (records.length === 0) return [];
    const { pool, statements, clock } = this.context;
    try {
      return await pool.transaction(async (query) => {
        if (lockTimeoutMs !== undefined) await setLockTimeout(query, lockTimeoutMs);
        const statement = lockTimeoutMs === undefined ? statements.storeOutcomes : statements.storeOutcomesWait;
        const answers = await query<OutcomeAnswer>(statement, [
          clock.offsetMs,
          ...outcomeRows.values(records.map((record) => outcomeRow(record.lease, record.outcome))),
        ]);
        await this.writeBeside(
          query,
          records.filter((_, index) => answers[index]!.ok),
        );
        const finished = await this.follow(query, records, answers);
        return records.map((record, index) => verdictOf(record, answers[index]!, finished));
      });
    } catch (error) {
      if (lockTimeoutMs !== undefined && isLockTimeout(error)) return records.map(() => BUSY);
      throw error;
    }
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
    return settle(query, this.context, groupByRun(stored), (definitionKey, state, event) =>
      decided.get(state.id)!(definitionKey, state, event),
    );
  }
}

type Attempted = Pick<LinearRecord, 'lease' | 'attempt' | 'beside'>;

/** A record on its way through the joined form. */
interface Joinable extends Attempted {
  readonly outcome: StageOutcome;
  readonly events: readonly EngineEvent[];
  readonly key: string;
  readonly node: string;
  readonly visit: number;
  readonly decide: DecideSettled;
}

function fromJoined(record: JoinedRecord, decide: DecideSettled): Joinable {
  return { ...record, key: record.key, decide };
}

/** What follows was decided by the caller; it is written where the outcome was. */
function fromLinear({ lease, attempt, outcome, transition, events, beside }: LinearRecord): Joinable {
  return { lease, attempt, outcome, events, beside, key: '', node: '', visit: 0, decide: () => transition ?? NOTHING };
}

const NOTHING: Transition = {
  run: null,
  stageRuns: [],
  reopened: [],
  requeued: [],
  visits: [],
  events: [],
  cancelOpen: false,
  cancelJobs: [],
};

function settledBy({ outcome, lease, key, node, visit }: Joinable, { open }: OutcomeAnswer): SettleEvent | null {
  if (outcome.kind === 'failed')
    return { type: 'stage-failed', stageRunId: lease.stageRunId, key, failure: outcome.failure };
  if (outcome.kind !== 'completed' && outcome.kind !== 'skipped') return null;
  return open === null || open === 0 ? { type: 'node-settled', node, visit } : null;
}

function groupByRun(
  items: readonly { runId: string; events: readonly EngineEvent[]; settled: SettleEvent | null }[],
): RunOutcomes[] {
  const runs = new Map<string, { runId: string; events: EngineEvent[]; settled: SettleEvent[] }>();
  for (const { runId, events, settled } of items) {
    const run = runs.get(runId) ?? { runId, events: [], settled: [] };
    runs.set(runId, run);
    run.events.push(...events);
    if (settled && !run.settled.some((other) => isSame(other, settled))) run.settled.push(settled);
  }
  return [...runs.values()];
}

function isSame(a: SettleEvent, b: SettleEvent): boolean {
  if (a.type === 'node-settled') return b.type === 'node-settled' && a.node === b.node && a.visit === b.visit;
  return b.type === 'stage-failed' && a.stageRunId === b.stageRunId;
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

function discardedJob(row: ClaimedRow): DiscardedJob {
  const ended = row.run_status !== 'RUNNING' && row.run_status !== 'PENDING';
  return { jobId: row.job_id, runId: row.run_id, stageRunId: row.stage_run_id, ghost: ended ? 'orphan' : 'duplicate' };
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
