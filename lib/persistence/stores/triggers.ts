import type {
  ClaimedSchedule,
  Cursor,
  FoundTrigger,
  OwnerScope,
  RunAncestor,
  ScheduleMove,
  TriggerNote,
  TriggerRow,
  TriggersInForce,
  TriggerStore,
} from '../../engine/ports/index.js';
import { NIL } from '../dialects/postgres/statements/find-waits.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import { moveRows, newTriggerRows } from '../dialects/postgres/statements/trigger-statements.js';
import type { TransactionQuery } from '../engine-pool.js';
import type { StoreContext } from './store-context.js';

/** What starts graphs by itself. Moved by the engine for all owners; read and published within one. */
export class PostgresTriggers implements TriggerStore {
  constructor(private readonly context: StoreContext) {}

  async putTriggers(inForce: TriggersInForce): Promise<void> {
    await this.context.sessions.transaction(sessionOf(inForce.ownerId), (query) =>
      keepTriggers(this.context, query, inForce),
    );
  }

  async listTriggers(
    { definitionId, limit }: Parameters<TriggerStore['listTriggers']>[0],
    scope: OwnerScope,
  ): Promise<TriggerRow[]> {
    const { sessions, statements } = this.context;
    const values = [scopeValue(scope), definitionId ?? null, limit];
    const within = 'all' in scope ? scope : sessionOf(scope.owner);
    return sessions.run(within, (query) => query<TriggerRow>(statements.listTriggers[scopeKind(scope)], values));
  }

  async claimSchedules(limit: number, aheadMs: number, leaseMs: number): Promise<ClaimedSchedule[]> {
    const { pool, statements, clock } = this.context;
    return pool.query<ClaimedSchedule>(statements.claimSchedules, [
      clock.offsetMs,
      aheadMs,
      leaseMs,
      limit,
      pool.sendMs,
    ]);
  }

  async moveSchedules(moves: readonly ScheduleMove[]): Promise<number> {
    if (moves.length === 0) return 0;
    const { pool, statements, clock } = this.context;
    const rows = moves.map(({ runId, passedOver, ...move }) => ({ ...move, run: runId, passed: passedOver }));
    const [row] = await pool.query<{ moved: number }>(statements.moveSchedules, [
      clock.offsetMs,
      ...moveRows.values(rows),
    ]);
    return row!.moved;
  }

  async findEventTriggers(
    { key, ownerId }: Parameters<TriggerStore['findEventTriggers']>[0],
    after: Cursor,
    limit: number,
  ): Promise<{ triggers: FoundTrigger[]; next: Cursor }> {
    const { pool, statements } = this.context;
    const triggers = await pool.query<FoundTrigger>(statements.findEventTriggers, [key, ownerId, after ?? NIL, limit]);
    return { triggers, next: triggers.length < limit ? null : triggers.at(-1)!.id };
  }

  async findHook(id: string): Promise<FoundTrigger | undefined> {
    const { pool, statements } = this.context;
    const [hook] = await pool.query<FoundTrigger>(statements.findHook, [id]);
    return hook;
  }

  async noteTrigger(id: string, { runId, outcome, error, started, passedOver }: TriggerNote): Promise<void> {
    const { pool, statements, clock } = this.context;
    await pool.query(statements.noteTrigger, [clock.offsetMs, id, runId, outcome, error, started, passedOver]);
  }

  async readAncestry(runId: string, ownerId: string | null): Promise<RunAncestor[]> {
    const { pool, statements } = this.context;
    return pool.query<RunAncestor>(statements.readAncestry, [runId, ownerId]);
  }

  async nextScheduleIn(aheadMs: number): Promise<number | null> {
    const { pool, statements, clock } = this.context;
    const [row] = await pool.query<{ inMs: number | null }>(statements.nextSchedule, [clock.offsetMs, aheadMs]);
    return row!.inMs;
  }
}

/** As a part of the transaction that publishes or retires. */
export async function keepTriggers(
  { statements, clock }: StoreContext,
  query: TransactionQuery,
  { ownerId, definitionId, definitionVersion, triggers }: TriggersInForce,
): Promise<void> {
  const values = [clock.offsetMs, ownerId, definitionId, definitionVersion, ...newTriggerRows.values(triggers)];
  await query(statements.putTriggers, values);
}

/** Under row-level security nobody's session writes what is all owners'. */
const sessionOf = (ownerId: string | null): OwnerScope => (ownerId === null ? { all: true } : { owner: ownerId });
