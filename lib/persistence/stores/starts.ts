import type {
  CountedStarts,
  CreatedRun,
  JoinedTransaction,
  NewRun,
  StartPlace,
  StartStore,
} from '../../engine/ports/index.js';
import { createRunsValues, type CreatedRow } from '../dialects/postgres/statements/create-runs.js';
import { joined } from './joined.js';
import type { StoreContext } from './store-context.js';

/** Starts: one statement, in a transaction of its own or in the host's. */
export class PostgresStarts implements StartStore {
  constructor(private readonly context: StoreContext) {}

  async createRuns(runs: readonly NewRun[], transaction?: JoinedTransaction): Promise<CreatedRun[]> {
    if (runs.length === 0) return [];
    // A key that stands twice in one call is its first run's: one statement may not touch a row twice.
    const firstOf = new Map<string, NewRun>();
    for (const run of runs) if (!firstOf.has(nameOf(run))) firstOf.set(nameOf(run), run);
    const written = [...firstOf.values()];
    const rows = await this.write(written, transaction);
    const answers = new Map(written.map((run, index) => [nameOf(run), rows[index]!]));
    return runs.map((run) => {
      const { run_id, created, due_in, input_digest } = answers.get(nameOf(run))!;
      const first = firstOf.get(nameOf(run)) === run;
      return { runId: run_id, created: created && first, dueInMs: due_in, inputDigest: input_digest };
    });
  }

  async heldKeys(digests: readonly Buffer[], transaction?: JoinedTransaction): Promise<boolean[]> {
    if (digests.length === 0) return [];
    const { pool, sessions, statements, clock } = this.context;
    const values = [clock.offsetMs, digests];
    const within = transaction && (await joined(transaction)<{ held: boolean }>(statements.heldKeys, values));
    if (within && !sessions.guarded) return within.map(({ held }) => held);
    // Under row-level security the host's session may be of another owner than the keys are.
    const committed = await pool.query<{ held: boolean }>(statements.heldKeys, values);
    return committed.map(({ held }, index) => held || within?.[index]?.held === true);
  }

  async countStarts(definitionId: string, starts: number, place?: StartPlace): Promise<CountedStarts> {
    const { pool, statements, clock } = this.context;
    const { digest = null, ownerId = null, ttlMs = null } = place ?? {};
    const values = [clock.offsetMs, definitionId, starts, digest, ownerId, ttlMs];
    const [row] = await pool.query<CountedStarts>(statements.countStarts, values);
    return row!;
  }

  private async write(runs: readonly NewRun[], transaction?: JoinedTransaction): Promise<CreatedRow[]> {
    const { sessions, statements, clock } = this.context;
    const statement = runs.some((run) => run.parent)
      ? statements.createChildren
      : runs.some((run) => run.idempotency)
        ? statements.createRunsKeyed
        : statements.createRuns;
    const rows = new Map<NewRun, CreatedRow>();
    await sessions.forOwners(
      runs.map(({ ownerId }) => ownerId),
      transaction,
      async (query, owners) => {
        const theirs = runs.filter(({ ownerId }) => owners.includes(ownerId));
        const answers = await query<CreatedRow>(statement, createRunsValues(clock.offsetMs, theirs));
        theirs.forEach((run, index) => rows.set(run, answers[index]!));
      },
    );
    return runs.map((run) => rows.get(run)!);
  }
}

/** Runs without a key are each their own. */
function nameOf(run: NewRun): string {
  return run.idempotency?.digest.toString('base64') ?? run.id;
}
