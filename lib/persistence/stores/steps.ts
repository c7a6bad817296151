import type {
  FiredWaits,
  JoinedTransaction,
  Lease,
  LedgerRow,
  RecordOptions,
  StepLease,
  StepStore,
  StepVerdict,
  StepWrite,
  SuspendRecord,
  SuspendVerdict,
} from '../../engine/ports/index.js';
import type { JsonText } from '../../engine/state/rows.js';
import { isLockTimeout } from '../database-errors.js';
import type { TransactionQuery } from '../engine-pool.js';
import { asleepValues, type AsleepRow } from '../dialects/postgres/statements/fall-asleep.js';
import { fireDueValues, type DueAnswer, type DueRow } from '../dialects/postgres/statements/fire-due.js';
import { stepLeaseValues, type EffectRow } from '../dialects/postgres/statements/ledger-statements.js';
import { stepValues, type StepAnswer } from '../dialects/postgres/statements/step-writes.js';
import { suspendedValues, type FencedRow } from '../dialects/postgres/statements/suspend.js';
import { joined } from './joined.js';
import { inWaves, lastOfEach, type PlacedWrite } from './step-waves.js';
import type { StoreContext } from './store-context.js';

const BUSY: SuspendVerdict = { verdict: 'busy' };
const NOT_FENCED: SuspendVerdict = { verdict: 'not-fenced' };

/** The step ledger, and the waits in it. What ends waits from outside stands beside it: events, children. */
export class PostgresSteps implements Omit<StepStore, 'deliverChildren' | 'findOrphans'> {
  constructor(private readonly context: StoreContext) {}

  async readLedger(stageRunIds: readonly string[]): Promise<LedgerRow[]> {
    if (stageRunIds.length === 0) return [];
    const { pool, statements, clock } = this.context;
    return pool.query<LedgerRow>(statements.readLedger, [clock.offsetMs, stageRunIds]);
  }

  async writeSteps(writes: readonly StepWrite[]): Promise<StepVerdict[]> {
    const verdicts: StepVerdict[] = Array.from({ length: writes.length });
    for (const wave of inWaves(writes)) {
      const answers = await this.writeWave(wave);
      wave.forEach(({ index }, place) => (verdicts[index] = answers[place]!.verdict));
    }
    return verdicts;
  }

  /** Locks first, then writes: the fence is read in a snapshot that follows both locks. */
  async writeWithin(write: StepWrite, transaction: JoinedTransaction): Promise<StepVerdict> {
    const { pool, sessions, statements, clock } = this.context;
    const query = joined(transaction);
    const [placed] = inWaves([write])[0]!;
    await query(statements.lockAttempt, [write.lease.runId, write.lease.stageRunId, pool.sendMs]);
    const [answer] = await query<StepAnswer>(statements.writeSteps, stepValues(clock.offsetMs, [placed!.write]));
    // What stands in the way may be a row that this session can't see: the next try meets it no more.
    if (answer!.verdict === 'busy' && sessions.guarded)
      await pool.query(statements.removeForgedSteps, [write.lease.stageRunId]);
    return answer!.verdict;
  }

  async extendSteps(leases: readonly StepLease[]): Promise<void> {
    if (leases.length === 0) return;
    const { pool, statements, clock } = this.context;
    await pool.query(statements.extendSteps, stepLeaseValues(clock.offsetMs, leases));
  }

  async readEffects(digests: readonly Buffer[], ownerId: string | null): Promise<Map<string, JsonText>> {
    if (digests.length === 0) return new Map();
    const { pool, statements } = this.context;
    const rows = await pool.query<EffectRow>(statements.readEffects, [digests, ownerId]);
    return new Map(rows.map(({ digest, result }) => [digest, result]));
  }

  async suspend(records: readonly SuspendRecord[], { lockTimeoutMs }: RecordOptions = {}): Promise<SuspendVerdict[]> {
    if (records.length === 0) return [];
    try {
      return await this.context.pool.transaction(
        (query) => this.suspendLocked(query, records.map(withoutRepeats), lockTimeoutMs !== undefined),
        { lockTimeoutMs },
      );
    } catch (error) {
      if (lockTimeoutMs !== undefined && isLockTimeout(error)) return records.map(() => BUSY);
      throw error;
    }
  }

  async answerWaits({ runId, stageRunId }: Pick<Lease, 'runId' | 'stageRunId'>): Promise<number | 'busy'> {
    const { pool, statements, clock } = this.context;
    return pool.transaction(async (query) => {
      if ((await query(statements.lockRuns, [[runId]])).length === 0) return 'busy';
      const [row] = await query<{ ended: number }>(statements.answerWaits, [clock.offsetMs, stageRunId]);
      return row!.ended;
    });
  }

  async fireDue(limit: number, aheadMs: number): Promise<FiredWaits> {
    const { pool, statements, clock } = this.context;
    return pool.transaction(async (query) => {
      const due = await query<DueRow>(statements.lockDue, [clock.offsetMs, aheadMs, limit]);
      const [answer] = await query<DueAnswer>(statements.fireDue, fireDueValues(clock.offsetMs, aheadMs, due));
      const { next_in: nextInMs, ...fired } = answer!;
      return { ...fired, nextInMs };
    });
  }

  private writeWave(wave: readonly PlacedWrite[]): Promise<StepAnswer[]> {
    const { pool, statements, clock } = this.context;
    return pool.query<StepAnswer>(
      statements.writeSteps,
      stepValues(
        clock.offsetMs,
        wave.map(({ write }) => write),
      ),
    );
  }

  /** Lock, then write, then look: each sees what was committed before the one before it held its locks. */
  private async suspendLocked(
    query: TransactionQuery,
    records: readonly SuspendRecord[],
    wait: boolean,
  ): Promise<SuspendVerdict[]> {
    const { statements, clock } = this.context;
    const runIds = records.map(({ lease }) => lease.runId);
    const locks = await query<{ id: string }>(wait ? statements.lockRunsWait : statements.lockRuns, [runIds]);
    const locked = new Set(locks.map(({ id }) => id));
    const had = records.filter(({ lease }) => locked.has(lease.runId));
    const verdicts = new Map<SuspendRecord, SuspendVerdict>(had.map((record) => [record, NOT_FENCED]));
    if (had.length > 0) {
      const rows = await query<FencedRow>(statements.writeSuspended, suspendedValues(clock.offsetMs, had));
      const fenced = rows.map(({ nr }) => had[nr - 1]!);
      const asleep =
        fenced.length > 0 ? await query<AsleepRow>(statements.fallAsleep, asleepValues(clock.offsetMs, fenced)) : [];
      fenced.forEach((record, index) => {
        const { suspended, due_in: dueInMs } = asleep[index]!;
        verdicts.set(record, { verdict: 'recorded', suspended, dueInMs });
      });
    }
    return records.map((record) => verdicts.get(record) ?? BUSY);
  }
}

/** Of a row that is named twice the last counts; what is awaited anew has no outcome to be placed. */
function withoutRepeats(record: SuspendRecord): SuspendRecord {
  const awaited = new Set(record.waits.map(({ key }) => key));
  const orders = record.orders.filter(({ key }) => !awaited.has(key));
  return { ...record, waits: lastOfEach(record.waits), orders: lastOfEach(orders) };
}
