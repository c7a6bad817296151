import type { AuditEntry, OutboxRow, OutboxStore, ReplayedLetter, UnheardRows } from '../../engine/ports/index.js';
import { keepAudit } from './audit.js';
import type { StoreContext } from './store-context.js';

type ReplayedRow = ReplayedLetter & { readonly ownerId: string | null };

/** Events on their way out: a queue in id order, relayed a hash slot at a time. */
export class PostgresOutbox implements OutboxStore {
  constructor(private readonly context: StoreContext) {}

  async leaseSlots(relayId: string, ttlMs: number, most: number, unheardForMs?: number): Promise<number[]> {
    const values = [this.offsetMs, relayId, ttlMs, most, unheardForMs ?? null];
    const rows = await this.query<{ slot: number }>('leaseSlots', values);
    return rows.map(({ slot }) => slot).sort((a, b) => a - b);
  }

  async releaseSlots(relayId: string): Promise<void> {
    await this.query('releaseSlots', [relayId]);
  }

  async readOutbox(relayId: string, slots: readonly number[], limit: number): Promise<OutboxRow[]> {
    return this.query<OutboxRow>('readOutbox', [this.offsetMs, relayId, slots, limit]);
  }

  async ackOutbox(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.query('ackOutbox', [ids]);
  }

  async failOutbox(id: string, delivered: number, message: string, retryInMs: number | null): Promise<void> {
    await this.query('failOutbox', [this.offsetMs, id, delivered, message, retryInMs]);
  }

  async discardOutbox(
    relayId: string,
    slots: readonly number[],
    limit: number,
    { olderThanMs, unheardForMs }: UnheardRows,
  ): Promise<number> {
    const values = [this.offsetMs, relayId, slots, limit, olderThanMs, unheardForMs];
    const [row] = await this.query<{ discarded: number }>('discardOutbox', values);
    return row!.discarded;
  }

  async listDeadLetters(limit: number): Promise<(OutboxRow & { error: string | null })[]> {
    return this.query('listDeadLetters', [limit]);
  }

  async replayDeadLetters(ids: readonly string[], audit?: (letter: ReplayedLetter) => AuditEntry): Promise<number> {
    return this.context.pool.transaction(async (query) => {
      const letters = await query<ReplayedRow>(this.context.statements.replayDeadLetters, [ids]);
      const kept = audit
        ? letters.map((letter) => ({ ...audit(letter), runId: letter.runId, ownerId: letter.ownerId }))
        : [];
      await keepAudit(this.context, query, kept);
      return letters.length;
    });
  }

  private get offsetMs(): number {
    return this.context.clock.offsetMs;
  }

  private query<Row>(
    statement:
      'leaseSlots' | 'releaseSlots' | 'readOutbox' | 'ackOutbox' | 'failOutbox' | 'discardOutbox' | 'listDeadLetters',
    values: unknown[],
  ): Promise<Row[]> {
    return this.context.pool.query<Row>(this.context.statements[statement], values);
  }
}
