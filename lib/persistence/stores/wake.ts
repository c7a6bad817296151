import type { PromotedJobs, StuckPage, WakeProbe, WakeStore } from '../../engine/ports/index.js';
import { clock, isoText } from '../dialects/postgres/sql.js';
import type { ProbeRow, PromotedRow, StuckRow } from '../dialects/postgres/statements/wake-statements.js';
import type { StoreContext } from './store-context.js';

const READ_CLOCK = { name: 'read-clock', text: `SELECT ${isoText(clock('$1'))} AS now` };

/** What a wake pass asks and moves. */
export class PostgresWake implements WakeStore {
  constructor(private readonly context: StoreContext) {}

  async probe({
    staleMs,
    capMs,
    stuckAfterMs,
    requeueAfterMs,
    eventRetentionMs,
    aheadMs,
  }: Parameters<WakeStore['probe']>[0]): Promise<WakeProbe> {
    const {
      pool,
      statements,
      clock: { offsetMs },
    } = this.context;
    const [row] = await pool.query<ProbeRow>(statements.probe, [
      offsetMs,
      staleMs,
      capMs,
      stuckAfterMs,
      aheadMs,
      requeueAfterMs,
      eventRetentionMs,
    ]);
    return {
      expiredLeases: row!.expired_leases,
      delayedDue: row!.delayed_due,
      nextDelayedInMs: row!.next_delayed,
      deadlineDue: row!.deadline_due,
      sentOverdue: row!.sent_overdue,
      outboxDue: row!.outbox_due,
      stuckSuspects: row!.stuck_suspects,
      waitsDue: row!.waits_due,
      nextWaitInMs: row!.next_wait,
      schedulesDue: row!.schedules_due,
      nextScheduleInMs: row!.next_schedule,
      eventWaitsOverdue: row!.event_waits_overdue,
      unmatched: row!.unmatched,
      childrenEnded: row!.children_ended,
      orphans: row!.orphans,
      expiredEvents: row!.expired_events,
      expiredKeys: row!.expired_keys,
    };
  }

  async promoteDelayed(limit: number, aheadMs: number): Promise<PromotedJobs> {
    const {
      pool,
      statements,
      clock: { offsetMs },
    } = this.context;
    const [row] = await pool.query<PromotedRow>(statements.promoteDelayed, [offsetMs, aheadMs, limit]);
    const { promoted, retries, escalations, next_in: nextInMs } = row!;
    return { promoted, retries, escalations, nextInMs };
  }

  async requeueSent(requeueAfterMs: number, limit: number): Promise<number> {
    const {
      pool,
      statements,
      clock: { offsetMs },
    } = this.context;
    const [row] = await pool.query<{ requeued: number }>(statements.requeueSent, [offsetMs, requeueAfterMs, limit]);
    return row!.requeued;
  }

  async findStuck(stuckAfterMs: number, after: string | null, limit: number): Promise<StuckPage> {
    const {
      pool,
      statements,
      clock: { offsetMs },
    } = this.context;
    const rows = await pool.query<StuckRow>(statements.findStuck, [offsetMs, stuckAfterMs, after, limit]);
    return {
      runIds: rows.filter((row) => row.suspect).map((row) => row.id),
      next: rows.length < limit ? null : rows.at(-1)!.id,
    };
  }

  async findOverdue(limit: number, aheadMs: number): Promise<{ runId: string }[]> {
    const {
      pool,
      statements,
      clock: { offsetMs },
    } = this.context;
    const rows = await pool.query<{ id: string }>(statements.findOverdue, [offsetMs, aheadMs, limit]);
    return rows.map(({ id }) => ({ runId: id }));
  }

  async pruneKeys(limit: number): Promise<number> {
    const {
      pool,
      statements,
      clock: { offsetMs },
    } = this.context;
    const [row] = await pool.query<{ pruned: number }>(statements.pruneKeys, [offsetMs, limit]);
    return row!.pruned;
  }

  async now(): Promise<string> {
    const [row] = await this.context.pool.query<{ now: string }>(READ_CLOCK, [this.context.clock.offsetMs]);
    return row!.now;
  }
}
