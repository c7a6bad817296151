import type { DeliveredChildren, StepStore } from '../../engine/ports/index.js';
import type { OrphanRow } from '../dialects/postgres/statements/children.js';
import type { StoreContext } from './store-context.js';

/** Runs that other runs wait for (STEP-9). */
export class PostgresChildren implements Pick<StepStore, 'deliverChildren' | 'findOrphans'> {
  constructor(private readonly context: StoreContext) {}

  async deliverChildren(limit: number): Promise<DeliveredChildren> {
    const { pool, statements, clock } = this.context;
    return pool.transaction(async (query) => {
      const children = await query<{ id: string }>(statements.lockParents, [limit]);
      if (children.length === 0) return { delivered: 0, told: 0, more: false };
      const ids = children.map(({ id }) => id);
      const [row] = await query<Omit<DeliveredChildren, 'more'>>(statements.deliverChildren, [clock.offsetMs, ids]);
      return { ...row!, more: children.length >= limit };
    });
  }

  async findOrphans(limit: number): ReturnType<StepStore['findOrphans']> {
    const { pool, statements } = this.context;
    const rows = await pool.query<OrphanRow>(statements.findOrphans, [limit]);
    return rows.map(({ id, parent_ended, terminated }) => ({ runId: id, parentEnded: parent_ended, terminated }));
  }
}
