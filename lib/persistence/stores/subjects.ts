import type { JoinedTransaction, SubjectName, SubjectStore, Touched } from '../../engine/ports/index.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import type { TouchedRow } from '../dialects/postgres/statements/touch-subject.js';
import type { TransactionQuery } from '../engine-pool.js';
import type { StoreContext } from './store-context.js';

/** What runs are about. */
export class PostgresSubjects implements SubjectStore {
  constructor(private readonly context: StoreContext) {}

  async touch(subject: SubjectName, ownerId: string | null, transaction?: JoinedTransaction): Promise<Touched> {
    const touch = (query: TransactionQuery) => this.touchWithin(query, subject, ownerId);
    const scope = { owner: ownerId };
    const { sessions } = this.context;
    // Which run it is about is asked for operators only.
    return transaction ? sessions.within(scope, '', transaction, touch) : sessions.transaction(scope, touch);
  }

  private async touchWithin(query: TransactionQuery, subject: SubjectName, owner: string | null): Promise<Touched> {
    const { statements, clock } = this.context;
    const values = [scopeValue({ owner }), subject.type, subject.id];
    const runs = await query<{ id: string }>(statements.touchRuns[scopeKind({ owner })], values);
    if (runs.length === 0) return { runs: 0, polls: 0, resumed: 0 };
    const [touched] = await query<TouchedRow>(statements.firePolls, [clock.offsetMs, runs.map(({ id }) => id)]);
    return { runs: runs.length, ...touched! };
  }
}
