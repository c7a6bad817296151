import type { DataSource } from 'typeorm';
import { createStatements } from '../../../lib/persistence/dialects/postgres/statements/index.js';
import { tableNames } from '../../../lib/persistence/index.js';
import { freshDatabase } from '../../support/database.js';

const t = tableNames();
const statements = createStatements(t);
let host: DataSource;

interface Plan {
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

beforeAll(async () => {
  host = await (await freshDatabase()).openDataSource();
  // With the broker, longer than what is due; nobody has run ANALYZE.
  await host.query(`
    INSERT INTO ${t.jobs} (id, run_id, stage_run_id, definition_key, queue, priority, run_at, state, sent_at)
    SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'flow@1#f', 'default', 5, now() - interval '1 hour', 3, now() FROM generate_series(1, 100000)`);
});
afterAll(() => host.destroy());

async function explain({ text }: { readonly text: string }, values: readonly unknown[]) {
  const [row] = await host.query<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    [...values],
  );
  const plan = row!['QUERY PLAN'][0]!.Plan;
  return { buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], indexes: indexesOf(plan) };
}

function indexesOf(plan: Plan): readonly string[] {
  return [plan['Index Name'] ?? [], ...(plan.Plans ?? []).map(indexesOf)].flat();
}

it('JOB-5: a backlog of the broker stands in nobody’s way: neither of sending, nor of the claim, nor of the wake pass', async () => {
  const take = await explain(statements.takeUnsent, [0, 100]);
  const requeue = await explain(statements.requeueSent, [0, 60_000, 100]);
  const claim = await explain(statements.claim, [0, 'worker', 20, [], null, 0]);
  const probe = await explain(statements.probe, [0, 300_000, 0, 900_000, 0, 60_000, 604_800_000]);
  expect(take.indexes).toContain('workflow_jobs_due');
  expect(claim.indexes).toContain('workflow_jobs_due');
  expect(requeue.indexes).toContain('workflow_jobs_sent');
  expect(probe.indexes).toContain('workflow_jobs_sent');
  for (const { buffers } of [take, requeue, claim, probe]) expect(buffers).toBeLessThan(50);
});
