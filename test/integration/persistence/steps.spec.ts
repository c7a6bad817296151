import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { ClaimedJob, WorkflowStore } from '../../../lib/engine/ports/index.js';
import { createStatements } from '../../../lib/persistence/dialects/postgres/statements/index.js';
import { claimValues } from '../../../lib/persistence/dialects/postgres/statements/claim.js';
import { fireDueValues } from '../../../lib/persistence/dialects/postgres/statements/fire-due.js';
import { asleepValues } from '../../../lib/persistence/dialects/postgres/statements/fall-asleep.js';
import { suspendedValues } from '../../../lib/persistence/dialects/postgres/statements/suspend.js';
import { stepValues } from '../../../lib/persistence/dialects/postgres/statements/step-writes.js';
import type { Statement } from '../../../lib/persistence/engine-pool.js';
import { createPostgresStore, tableNames } from '../../../lib/persistence/index.js';
import { cancelling, leaseOf, newRun } from '../../../lib/testing/conformance/builders.js';
import {
  awaiting,
  begin,
  childWait,
  finish,
  signalWait,
  sleep,
  suspending,
} from '../../../lib/testing/conformance/step-builders.js';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';

const statements = createStatements(tableNames());
const ALL = { all: true } as const;

interface Plan {
  readonly pages: number;
  readonly indexes: readonly string[];
  readonly text: string;
}

/** What a statement costs and reads, planned without a look at its values, as one that is prepared and used again and again. */
async function explain(client: PoolClient, { name, text }: Statement, values: readonly unknown[]): Promise<Plan> {
  const literals = values.map((value) => (value === null ? 'NULL' : `'${literal(value)}'`));
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE "${name}" AS ${text}`);
  await client.query('BEGIN');
  const call = `EXECUTE "${name}"${literals.length > 0 ? `(${literals.join(', ')})` : ''}`;
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${call}`,
  );
  await client.query('ROLLBACK');
  await client.query(`DEALLOCATE "${name}"`);
  const [{ Plan: plan }] = rows[0]!['QUERY PLAN'];
  const json = JSON.stringify(plan);
  return {
    pages: plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!,
    indexes: [...json.matchAll(/"Index Name":"([^"]+)"/g)].map(([, index]) => index!),
    text: JSON.stringify(plan, undefined, 1),
  };
}

const literal = (value: unknown): string =>
  (Array.isArray(value) ? `{${value.join(',')}}` : String(value)).replaceAll("'", "''");

describe('the step ledger on PostgreSQL', () => {
  let dataSource: DataSource;
  let monitor: Pool;
  let stores: [WorkflowStore, WorkflowStore];
  let store: WorkflowStore;

  beforeAll(async () => {
    const database = await freshDatabase();
    dataSource = await database.openDataSource();
    monitor = database.openPool({ max: 2 });
    stores = [await createPostgresStore(dataSource), await createPostgresStore(dataSource)];
    [store] = stores;
  });

  beforeEach(() => {
    store.clockOffsetMs = 0;
  });

  afterAll(async () => {
    await Promise.all(stores.map((one) => one.close()));
    await monitor.end();
    await dataSource.destroy();
  });

  async function emptyTables(): Promise<void> {
    await monitor.query('TRUNCATE workflow_runs, workflow_stage_runs, workflow_jobs, workflow_steps, workflow_outbox');
  }

  async function onClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await monitor.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  }

  async function startAndClaim(count: number): Promise<ClaimedJob[]> {
    await store.createRuns(Array.from({ length: count }, () => newRun()));
    return [...(await store.claim({ workerId: 'w', limit: count, queues: null, unserved: [] })).claimed];
  }

  it('STEP-1: a step that begins and ends leaves the indexes alone (HOT)', async () => {
    const [job] = await startAndClaim(1);
    const { text } = statements.writeSteps;
    const keys = Array.from({ length: 20 }, (_, index) => `step-${index}`);
    const begins = keys.map((key) => begin(job!, key));
    const ends = keys.map((key, index) => finish(job!, key, { seq: index + 1 }));
    const counts = await onClient(async (client) => {
      await client.query('BEGIN');
      await client.query(text, stepValues(0, begins));
      await client.query(text, stepValues(0, ends));
      const { rows } = await client.query(
        `SELECT n_tup_ins::int AS begun, n_tup_upd::int AS ended, n_tup_hot_upd::int AS hot FROM pg_stat_xact_user_tables WHERE relname = 'workflow_steps'`,
      );
      await client.query('COMMIT');
      return rows;
    });
    expect(counts).toEqual([{ begun: 20, ended: 20, hot: 20 }]);
  });

  describe.each(['never analyzed', 'analyzed'])('beside 100,000 stages that sleep, %s', (how) => {
    beforeAll(async () => {
      await emptyTables();
      await monitor.query(`
        WITH r AS (
          INSERT INTO workflow_runs (id, definition_id, definition_version, definition_key, status, input)
          SELECT gen_random_uuid(), 'd', 1, 'd@1#f', 'RUNNING', '{}' FROM generate_series(1, 100000) RETURNING id),
        s AS (
          INSERT INTO workflow_stage_runs (id, run_id, node, position, key, stage, ordinal, status, queue)
          SELECT gen_random_uuid(), id, 'a', 0, 'a', 'a', 1, 'SUSPENDED', 'default' FROM r RETURNING id, run_id)
        INSERT INTO workflow_steps (stage_run_id, key, run_id, kind, status, open, due_at, event_key)
        SELECT id, 'wait', run_id, CASE WHEN random() < 0.5 THEN 'sleep' ELSE 'event' END, 'waiting', true, now() + interval '1 day' * (1 + random()), 'paid' FROM s`);
      if (how === 'analyzed') await monitor.query('ANALYZE');
    });

    afterAll(emptyTables);

    it('WAKE-6: that nothing is due is seen in a few pages', async () => {
      const page = await onClient((client) => explain(client, statements.lockDue, [0, 0, 100]));
      expect(page.indexes).toContain('workflow_steps_due');
      expect(page.pages).toBeLessThan(20);
      const fired = await onClient((client) => explain(client, statements.fireDue, fireDueValues(0, 0, [])));
      expect(fired.pages).toBeLessThan(50);
    });

    it('STEP-1: a write of steps reads its own rows', async () => {
      const jobs = await startAndClaim(10);
      const begins = jobs.map((job) => begin(job, 'fetch'));
      const plan = await onClient((client) => explain(client, statements.writeSteps, stepValues(0, begins)));
      expect(plan.text).not.toContain('"Seq Scan"');
      expect(plan.pages).toBeLessThan(1_000);
    });

    it('WAIT-1: a suspend reads its own rows', async () => {
      const records = (await startAndClaim(10)).map((job) => suspending(job, [sleep('nap', 60_000)]));
      const write = await onClient((client) => explain(client, statements.writeSuspended, suspendedValues(0, records)));
      expect(write.pages).toBeLessThan(1_000);
      const look = await onClient((client) => explain(client, statements.fallAsleep, asleepValues(0, records)));
      expect(look.pages).toBeLessThan(1_000);
    });

    it('WAIT-3: a look for answers reads the rows of its stage run', async () => {
      const [job] = await startAndClaim(1);
      await store.writeSteps([awaiting(job!, [signalWait('approval'), childWait('child', job!.run.id)])]);
      const look = await onClient((client) => explain(client, statements.answerWaits, [0, job!.stageRun.id]));
      expect(look.pages).toBeLessThan(100);
    });

    it('WAKE-6: a claim reads nothing of what sleeps', async () => {
      await store.createRuns(Array.from({ length: 10 }, () => newRun()));
      const plan = await onClient((client) => explain(client, statements.claim, claimValues(0, 'w', 10, [], null, 0)));
      expect(plan.pages).toBeLessThan(1_000);
    });

    it('WAKE-6: of much that is due a page costs a page', async () => {
      await monitor.query(
        `UPDATE workflow_steps SET due_at = now() WHERE (stage_run_id, key) IN (SELECT stage_run_id, key FROM workflow_steps WHERE kind = 'sleep' LIMIT 10000)`,
      );
      const page = await onClient((client) => explain(client, statements.lockDue, [0, 0, 100]));
      expect(page.pages).toBeLessThan(2_000);
      const { rows: due } = await monitor.query<{ sid: string; key: string }>(
        `SELECT stage_run_id AS sid, key FROM workflow_steps WHERE open AND kind <> 'event' ORDER BY due_at LIMIT 100`,
      );
      const fired = await onClient((client) => explain(client, statements.fireDue, fireDueValues(0, 0, due)));
      expect(fired.pages).toBeLessThan(20_000);
      expect(await store.fireDue(100, 0)).toMatchObject({ timers: 100, resumed: 100, more: true });
    });
  });

  describe('beside others', () => {
    beforeEach(emptyTables);

    it('FAULT D1: steps, suspensions, timers, cancels and records of the same runs at once end in no deadlock', async () => {
      for (let round = 0; round < 5; round += 1) {
        const jobs = await startAndClaim(30);
        const errors: unknown[] = [];
        const beside = async (work: () => Promise<unknown>): Promise<void> => {
          await work().catch((error: unknown) => errors.push(error));
        };
        const shuffled = (): ClaimedJob[] => [...jobs].sort(() => Math.random() - 0.5);
        const steps = (one: WorkflowStore) => async () => {
          for (const name of ['a', 'b', 'c']) {
            await one.writeSteps(shuffled().map((job) => begin(job, name)));
            await one.writeSteps(shuffled().map((job) => finish(job, name)));
          }
        };
        const cancels = async (): Promise<void> => {
          for (const job of shuffled().slice(0, 15))
            await store.changeRun(job.run.id, ALL, () => ({ transition: cancelling(), answer: null }));
        };
        const sleeps = (one: WorkflowStore) => async () => {
          for (let tries = 0; tries < 3; tries += 1)
            await one.suspend(shuffled().map((job) => suspending(job, [sleep('x', 0), sleep('y', 0)])));
        };
        const fires = (one: WorkflowStore) => async () => {
          for (let tries = 0; tries < 10; tries += 1) await one.fireDue(10, 0);
        };
        const works = stores.flatMap((one) => [steps(one), sleeps(one), fires(one)]);
        await Promise.all([...works, cancels].map(beside));
        expect(errors).toEqual([]);
        expect(await brokenInvariants(monitor)).toEqual({});
        await monitor.query(
          'TRUNCATE workflow_runs, workflow_stage_runs, workflow_jobs, workflow_steps, workflow_outbox',
        );
      }
    });

    it('WAKE-3: waits of a run that somebody holds keep no others from the page', async () => {
      const jobs = await startAndClaim(5);
      for (const [index, job] of jobs.entries()) await store.suspend([suspending(job, [sleep('nap', index * 10)])]);
      store.clockOffsetMs = 1_000;
      const holder = await monitor.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM workflow_runs WHERE id = ANY ($1) FOR UPDATE', [
        jobs.slice(0, 3).map(({ run }) => run.id),
      ]);
      expect(await store.fireDue(2, 0)).toMatchObject({ timers: 2, resumed: 2, more: true });
      await holder.query('COMMIT');
      holder.release();
      expect(await store.fireDue(10, 0)).toMatchObject({ timers: 3, resumed: 3, more: false });
    });

    it('WAKE-3: a stage without a queue goes on in the default one, and keeps no others from going on', async () => {
      const jobs = await startAndClaim(3);
      for (const job of jobs) await store.suspend([suspending(job, [sleep('nap', 10)])]);
      await monitor.query('UPDATE workflow_stage_runs SET queue = NULL WHERE id = $1', [jobs[0]!.stageRun.id]);
      store.clockOffsetMs = 1_000;
      expect(await store.fireDue(10, 0)).toMatchObject({ timers: 3, resumed: 3, ended: 3 });
      expect((await store.claim({ workerId: 'w', limit: 10, queues: ['default'], unserved: [] })).claimed).toHaveLength(
        3,
      );
    });

    it('WAIT-1: a stage whose job is gone, or somebody else’s, does not suspend', async () => {
      const [gone, other] = await startAndClaim(2);
      await monitor.query('DELETE FROM workflow_jobs WHERE id = $1', [gone!.jobId]);
      await monitor.query('UPDATE workflow_jobs SET claim_token = gen_random_uuid() WHERE id = $1', [other!.jobId]);
      const records = [gone!, other!].map((job) => suspending(job, [sleep('nap', 10)]));
      expect(await store.suspend(records)).toEqual([{ verdict: 'not-fenced' }, { verdict: 'not-fenced' }]);
      expect(await store.readLedger([gone!.stageRun.id, other!.stageRun.id])).toEqual([]);
    });

    it('WAIT-3: a look for answers does not wait for whoever holds the run', async () => {
      const [job] = await startAndClaim(1);
      await store.writeSteps([awaiting(job!, [signalWait('approval')])]);
      const holder = await monitor.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM workflow_runs WHERE id = $1 FOR UPDATE', [job!.run.id]);
      expect(await store.answerWaits(leaseOf(job!))).toBe('busy');
      await holder.query('COMMIT');
      holder.release();
      expect(await store.answerWaits(leaseOf(job!))).toBe(0);
    });

    it('STEP-1: what is locked is busy and not waited for, and nothing of that write is written', async () => {
      const [job, other] = await startAndClaim(2);
      await store.writeSteps([begin(job!, 'fetch'), begin(other!, 'fetch'), begin(job!, 'late')]);
      await store.writeSteps([finish(job!, 'late', { seq: null })]);
      const holder = await monitor.connect();
      await holder.query('BEGIN');
      await holder.query(`SELECT 1 FROM workflow_steps WHERE stage_run_id = $1 AND key = 'late' FOR UPDATE`, [
        job!.stageRun.id,
      ]);
      const orders = [{ key: 'late', seq: 1 }];
      const writes = [finish(job!, 'fetch', { seq: 2, orders }), finish(other!, 'fetch')];
      expect(await store.writeSteps(writes)).toEqual(['busy', 'written']);
      await holder.query('COMMIT');
      holder.release();
      expect(await store.writeSteps(writes)).toEqual(['written', 'settled']);
      const rows = await store.readLedger([job!.stageRun.id]);
      expect(rows.map(({ key, seq }) => [key, seq])).toEqual([
        ['late', 1],
        ['fetch', 2],
      ]);
    });

    it('STEP-1: a row that is named twice in one call is written twice, in order', async () => {
      const [job] = await startAndClaim(1);
      expect(await store.writeSteps([begin(job!, 'a'), finish(job!, 'a'), begin(job!, 'b')])).toEqual([
        'written',
        'written',
        'written',
      ]);
      expect(await store.readLedger([job!.stageRun.id])).toMatchObject([
        { key: 'a', status: 'completed' },
        { key: 'b', status: 'running' },
      ]);
    });
  });
});
