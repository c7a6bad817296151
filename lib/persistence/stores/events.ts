import type {
  AuditEntry,
  Cursor,
  EventMatch,
  EventStore,
  EventWait,
  FiredTimeouts,
  JoinedTransaction,
  NewEvent,
  OwnerScope,
  SignalVerdict,
  StoredEvent,
  WaitPlace,
} from '../../engine/ports/index.js';
import type { TransactionQuery } from '../engine-pool.js';
import {
  eventWait,
  storedEvent,
  type EventRow,
  type EventWaitRow,
} from '../dialects/postgres/statements/event-waits.js';
import { eventOwner, NIL } from '../dialects/postgres/statements/find-waits.js';
import {
  matchValues,
  nameValues,
  type FiredRow,
  type RunLockRow,
} from '../dialects/postgres/statements/fire-events.js';
import type { UnmatchedRow } from '../dialects/postgres/statements/event-sweeps.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import { signalValues, type SignalAnswer } from '../dialects/postgres/statements/send-signal.js';
import { eventValues } from '../dialects/postgres/statements/store-event.js';
import { keepAudit, ofRun } from './audit.js';
import type { StoreContext } from './store-context.js';

/** Events, signals, and the waits that they end. */
export class PostgresEvents implements EventStore {
  constructor(private readonly context: StoreContext) {}

  async storeEvent(event: NewEvent, transaction?: JoinedTransaction): Promise<boolean> {
    const { sessions, statements } = this.context;
    const values = [this.offsetMs, ...eventValues(event)];
    const [rows] = await sessions.forOwners([event.ownerId], transaction, (query) =>
      query<{ stored: boolean }>(statements.storeEvent, values),
    );
    return rows![0]!.stored;
  }

  async sendSignal(
    event: NewEvent,
    runId: string,
    scope: OwnerScope,
    transaction?: JoinedTransaction,
    audit?: (verdict: SignalVerdict) => AuditEntry,
  ): Promise<SignalVerdict | 'not-found'> {
    const send = (query: TransactionQuery) => this.send(query, event, runId, scope, audit);
    const { sessions } = this.context;
    return transaction ? sessions.within(scope, runId, transaction, send) : sessions.transaction(scope, send);
  }

  async findWaits(event: StoredEvent, after: Cursor, limit: number): Promise<{ waits: EventWait[]; next: Cursor }> {
    const { pool, statements } = this.context;
    const rows = await pool.query<EventWaitRow>(statements.findWaits[eventOwner(event.ownerId)], [
      this.offsetMs,
      event.id,
      event.key,
      event.ownerId,
      event.subject?.type ?? null,
      event.subject?.id ?? null,
      ...(after === null ? [NIL, NIL, ''] : (JSON.parse(after) as [string, string, string])),
      limit,
    ]);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      waits: rows.map(eventWait),
      next: last ? JSON.stringify([last.run_id, last.stage_run_id, last.key]) : null,
    };
  }

  async findEvents(wait: EventWait, after: Cursor, limit: number): Promise<{ events: StoredEvent[]; next: Cursor }> {
    const { pool, statements } = this.context;
    const find = wait.subject ? statements.findEventsOfSubject : statements.findEvents;
    const rows = await pool.query<EventRow>(find[eventOwner(wait.ownerId)], [
      wait.stageRunId,
      wait.key,
      wait.eventKey,
      wait.ownerId,
      wait.subject?.type ?? null,
      wait.subject?.id ?? null,
      after ?? NIL,
      limit,
    ]);
    return { events: rows.map(storedEvent), next: rows.length < limit ? null : rows.at(-1)!.id };
  }

  async fireEvents(matches: readonly EventMatch[]): Promise<{ fired: EventMatch[]; busy: EventMatch[] }> {
    if (matches.length === 0) return { fired: [], busy: [] };
    const { pool, statements } = this.context;
    return pool.transaction(async (query) => {
      const { had, busy } = await this.lock(query, matches);
      if (had.length === 0) return { fired: [], busy };
      const rows = await query<FiredRow>(statements.fireEvents, [this.offsetMs, ...matchValues(had)]);
      const fired = rows.filter((row) => row.fired).map((row) => had[row.nr - 1]!);
      const lost = rows.filter((row) => !row.fired).map((row) => had[row.nr - 1]!);
      // What lost to a match that was not fired either may still come: its wait is open, its event not given away.
      return { fired, busy: [...busy, ...lost.filter((match) => !fired.some((other) => excludes(other, match)))] };
    });
  }

  async unmatchedEvents(
    olderThanMs: number,
    after: Cursor,
    limit: number,
  ): Promise<{ events: StoredEvent[]; next: Cursor }> {
    const { pool, statements } = this.context;
    const rows = await pool.query<UnmatchedRow>(statements.unmatchedEvents, [
      this.offsetMs,
      olderThanMs,
      ...(after === null ? ['-infinity', NIL] : (JSON.parse(after) as [string, string])),
      limit,
    ]);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return { events: rows.map(storedEvent), next: last ? JSON.stringify([last.at, last.id]) : null };
  }

  async markMatched(eventIds: readonly string[]): Promise<void> {
    if (eventIds.length > 0) await this.context.pool.query(this.context.statements.markMatched, [eventIds]);
  }

  async uncheckedWaits(
    of: readonly string[] | { readonly olderThanMs: number; readonly after?: WaitPlace },
    limit: number,
  ): Promise<EventWait[]> {
    const { pool, statements } = this.context;
    const rows =
      'olderThanMs' in of
        ? await pool.query<EventWaitRow>(statements.olderUncheckedWaits, [
            this.offsetMs,
            of.olderThanMs,
            ...placeValues(of.after),
            limit,
          ])
        : await pool.query<EventWaitRow>(statements.uncheckedWaits, [this.offsetMs, of, limit]);
    return rows.map(eventWait);
  }

  async markChecked(waits: readonly EventWait[]): Promise<void> {
    if (waits.length > 0) await this.context.pool.query(this.context.statements.markChecked, nameValues(waits));
  }

  async overdueEventWaits(limit: number, aheadMs: number, after?: WaitPlace): Promise<EventWait[]> {
    const { pool, statements } = this.context;
    const rows = await pool.query<EventWaitRow>(statements.overdueEventWaits, [
      this.offsetMs,
      aheadMs,
      ...placeValues(after),
      limit,
    ]);
    return rows.map((row) => ({ ...eventWait(row), overdue: true }));
  }

  async fireTimeouts(waits: readonly EventWait[], aheadMs: number): Promise<FiredTimeouts> {
    if (waits.length === 0) return { fired: 0, ended: 0, busy: 0 };
    const { pool, statements } = this.context;
    return pool.transaction(async (query) => {
      const { had, busy } = await this.lock(query, waits);
      if (had.length === 0) return { fired: 0, ended: 0, busy: busy.length };
      const [row] = await query<Omit<FiredTimeouts, 'busy'>>(statements.fireTimeouts, [
        this.offsetMs,
        aheadMs,
        ...nameValues(had),
      ]);
      return { ...row!, busy: busy.length };
    });
  }

  async pruneEvents(retentionMs: number, limit: number): Promise<number> {
    const { pool, statements } = this.context;
    const [row] = await pool.query<{ pruned: number }>(statements.pruneEvents, [this.offsetMs, retentionMs, limit]);
    return row!.pruned;
  }

  /** First statement of whatever ends waits. What follows has a snapshot in which these runs stand still. */
  private async lock<Wait extends { readonly runId: string }>(
    query: TransactionQuery,
    waits: readonly Wait[],
  ): Promise<{ had: Wait[]; busy: Wait[] }> {
    const runIds = [...new Set(waits.map(({ runId }) => runId))];
    const rows = await query<RunLockRow>(this.context.statements.lockWaitingRuns, [runIds]);
    const locked = new Map(rows.map((row) => [row.id, row.locked]));
    return {
      had: waits.filter(({ runId }) => locked.get(runId) === true),
      busy: waits.filter(({ runId }) => locked.get(runId) === false),
    };
  }

  private async send(
    query: TransactionQuery,
    event: NewEvent,
    runId: string,
    scope: OwnerScope,
    audit?: (verdict: SignalVerdict) => AuditEntry,
  ): Promise<SignalVerdict | 'not-found'> {
    const { statements } = this.context;
    const [run] = await query<{ ownerId: string | null }>(statements.lockSignalled[scopeKind(scope)], [
      scopeValue(scope),
      runId,
    ]);
    if (run === undefined) return 'not-found';
    const [row] = await query<SignalAnswer>(statements.sendSignal, [this.offsetMs, ...signalValues(event), runId]);
    const verdict = verdictOf(row!, event.id);
    if (audit) await keepAudit(this.context, query, [ofRun(audit(verdict), runId, run.ownerId)]);
    return verdict;
  }

  private get offsetMs(): number {
    return this.context.clock.offsetMs;
  }
}

/** Whether a match that was fired leaves nothing to another one. */
function excludes(fired: EventMatch, other: EventMatch): boolean {
  if (fired.runId !== other.runId) return false;
  return fired.eventId === other.eventId || (fired.stageRunId === other.stageRunId && fired.key === other.key);
}

function verdictOf({ open, known, known_taken, stored, delivered }: SignalAnswer, id: string): SignalVerdict {
  // The answer of an earlier try of this very call was lost.
  if (known === id) return known_taken ? 'delivered' : 'stored';
  if (known !== null) return 'duplicate';
  if (!open) return 'ended';
  if (!stored) return 'duplicate';
  return delivered ? 'delivered' : 'stored';
}

/** Behind nothing is behind what cannot be. */
const placeValues = (after: WaitPlace | undefined): [string, string] =>
  after === undefined ? [NIL, ''] : [after.stageRunId, after.key];
