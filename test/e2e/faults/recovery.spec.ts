import { DataSource } from 'typeorm';
import { WakeService, WorkflowHost, WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { until } from '../../support/until.js';
import { signal, startApp, withApp } from '../app.js';
import { AT_ONCE, flowOf, stageOf } from './scenes.js';

const byHand = { worker: false, wake: { every: false } } as const;
const Work = stageOf('work', (ctx) => ctx.input);
const Flow = flowOf('flow', [Work, { left: Work, right: Work }]);

it('FAULT C16: a body that ends two leases after the shutdown began was given to nobody else', async () => {
  const database = await freshDatabase();
  const [entered, opened] = [signal(), signal()];
  let bodies = 0;
  const Held = stageOf('held', async () => {
    bodies++;
    entered.resolve();
    await opened.promise;
    return 'kept';
  });
  const Holding = flowOf('holding', [Held]);
  const providers = [Held, Holding];
  const lease = { heartbeatInterval: 50, staleThreshold: '1m' } as const;
  const leaving = await startApp({ database, providers, workflow: { lease, wake: { every: false } } });
  const { run } = await leaving.get(WorkflowService).start(Holding, null);
  await entered.promise;
  const staying = await startApp({ database, providers, workflow: { lease, wake: { every: false } } });
  const dataSource = staying.get(DataSource);
  const closing = leaving.close();
  // As if two leases had passed: nothing but heartbeats, which go on while the process leaves, brings it back.
  await dataSource.query(`UPDATE workflow_jobs SET locked_at = now() - interval '2 minutes'`);
  const extended = `SELECT count(*)::int AS n FROM workflow_jobs WHERE locked_at > now() - interval '30 seconds'`;
  await until(async () => (await dataSource.query(extended))[0].n === 1);
  await expect(staying.get(WakeService).wake()).resolves.toMatchObject({ reclaimed: 0, errors: [] });
  opened.resolve();
  await closing;
  await expect(staying.get(WorkflowService).result(run)).resolves.toBe('kept');
  expect(bodies).toBe(1);
  await staying.close();
});

describe('rows that something else has torn apart', () => {
  // The least that options allow: a run is stuck when nothing has moved for longer than a lease.
  const workflow = { ...byHand, lease: { heartbeatInterval: 10, staleThreshold: 30 }, stuckAfter: 40 } as const;

  it('FAULT C21: a stage run without its job gets one again, and runs once', async () => {
    const database = await freshDatabase();
    await withApp({ database, providers: [Work, Flow], workflow }, async (app) => {
      const [workflows, wake, host] = [app.get(WorkflowService), app.get(WakeService), app.get(WorkflowHost)];
      const dataSource = app.get(DataSource);
      const { run } = await workflows.start(Flow, 7);
      await dataSource.query('DELETE FROM workflow_jobs');
      let requeued = 0;
      await until(async () => (requeued += (await wake.wake()).requeued) === 1);
      await host.processAvailable();
      await expect(workflows.result(run)).resolves.toEqual({ left: 7, right: 7 });
      const { stages } = await workflows.history(run);
      expect(stages.map(({ key, attempt }) => [key, attempt])).toEqual([
        ['work', 1],
        ['left', 1],
        ['right', 1],
      ]);
      const pool = database.openPool({ max: 1 });
      expect(await brokenInvariants(pool)).toEqual({});
      await pool.end();
    });
  });

  it('FAULT C21: a job without its stage run, or of one that is over, keeps no claim busy', async () => {
    await withApp({ providers: [Work, Flow], workflow }, async (app) => {
      const [workflows, host] = [app.get(WorkflowService), app.get(WorkflowHost)];
      const dataSource = app.get(DataSource);
      const { run: over } = await workflows.start(Flow, 1);
      await host.processAvailable();
      await workflows.result(over);
      const job = (
        stageRun: string,
      ): string => `INSERT INTO workflow_jobs (id, run_id, stage_run_id, definition_key, queue, priority)
        SELECT gen_random_uuid(), r.id, ${stageRun}, r.definition_key, 'default', 100 FROM workflow_runs r, generate_series(1, 50) LIMIT 50`;
      await dataSource.query(job(`(SELECT id FROM workflow_stage_runs LIMIT 1)`));
      await dataSource.query(job('gen_random_uuid()'));
      const { run } = await workflows.start(Flow, 2);
      for (let pass = 0; pass < 10; pass++) await host.processAvailable();
      await expect(workflows.get(run)).resolves.toMatchObject({ status: 'COMPLETED' });
      await expect(dataSource.query('SELECT count(*)::int AS n FROM workflow_jobs')).resolves.toEqual([{ n: 0 }]);
    });
  });
});

it('FAULT K4: a manual retry begins with all its losses again, and fails no sooner than the first time', async () => {
  await withApp({ providers: [Work, Flow], workflow: { ...byHand, lease: { maxLosses: 2 } } }, async (app) => {
    const [workflows, wake, host] = [app.get(WorkflowService), app.get(WakeService), app.get(WorkflowHost)];
    const { run } = await workflows.start(Flow, 7);
    /** The worker that claims the stage dies of it. */
    const lose = async (): Promise<void> => {
      const [job] = await app
        .get(DataSource)
        .query(
          `UPDATE workflow_jobs SET state = 1, claim_token = gen_random_uuid(), locked_by = 'dead',
        locked_at = now() - interval '1 hour', started_at = now() RETURNING claim_token AS token`,
        )
        .then(([rows]) => rows);
      await app.get(DataSource).query(
        `UPDATE workflow_stage_runs SET status = 'RUNNING', attempt = attempt + 1, started_at = now(),
        claim_token = $1, worker_id = 'dead'`,
        [job.token],
      );
      await expect(wake.wake()).resolves.toMatchObject({ reclaimed: 1, errors: [] });
    };
    await lose();
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'RUNNING' });
    await lose();
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'FAILED', failureCode: 'LEASE_EXPIRED' });
    await workflows.retry(run);
    await expect(workflows.history(run)).resolves.toMatchObject({ stages: [{ status: 'PENDING', losses: 0 }] });
    await lose();
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'RUNNING' });
    await host.processAvailable();
    await expect(workflows.result(run)).resolves.toEqual({ left: 7, right: 7 });
  });
});

it('FAULT K29: the same key with the same input in another order of keys is the first run, other input a conflict', async () => {
  const workflow = { ...byHand, idempotency: { strict: true } };
  await withApp({ providers: [Work, Flow], workflow }, async (app) => {
    const workflows = app.get(WorkflowService);
    const first = await workflows.start(Flow, { a: 1, b: { c: 2, d: 3 } }, { idempotencyKey: 'k' });
    const again = workflows.start(Flow, { b: { d: 3, c: 2 }, a: 1 }, { idempotencyKey: 'k' });
    await expect(again).resolves.toEqual({ run: first.run, created: false });
    const other = workflows.start(Flow, { a: 1, b: { c: 2, d: 4 } }, { idempotencyKey: 'k' });
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    await expect(workflows.list()).resolves.toMatchObject({ runs: [{ id: first.run.id }] });
  });
});

it.each(['serializable', 'repeatable read'])(
  'FAULT K28: a database that is %s by default runs groups, keys, retries and cancels',
  async (isolation) => {
    const database = await freshDatabase();
    const admin = database.openPool({ max: 1 });
    await admin.query(`ALTER DATABASE "${database.name}" SET default_transaction_isolation = '${isolation}'`);
    await admin.end();
    let failures = 5;
    const Shaky = stageOf('shaky', (ctx) => {
      if (failures-- > 0) throw new Error('not yet');
      return ctx.input;
    });
    const Shaking = flowOf('shaking', [Shaky, { a: Work, b: Work, c: Work }], {
      retry: { ...AT_ONCE, maxAttempts: 10 },
    });
    await withApp({ database, providers: [Work, Shaky, Shaking] }, async (app) => {
      const workflows = app.get(WorkflowService);
      const starts = Array.from({ length: 40 }, (_, n) =>
        workflows.start(Shaking, n % 20, { idempotencyKey: `k${n % 20}` }),
      );
      const results = await Promise.all(starts);
      expect(results.filter(({ created }) => created)).toHaveLength(20);
      const outputs = await Promise.all(results.map(({ run }) => workflows.result(run)));
      expect(outputs).toEqual(outputs.map((_, n) => ({ a: n % 20, b: n % 20, c: n % 20 })));
      const { run } = await workflows.start(Shaking, 1, { delay: '1h' });
      await workflows.cancel(run);
      await expect(workflows.get(run)).resolves.toMatchObject({ status: 'CANCELLED' });
    });
  },
);

it('FAULT K19: 10,000 failed runs are listed in small pages, and counted in one statement', async () => {
  await withApp({ providers: [Work, Flow], workflow: byHand }, async (app) => {
    const workflows = app.get(WorkflowService);
    await app.get(DataSource)
      .query(`INSERT INTO workflow_runs (id, definition_id, definition_version, definition_key, status, input, output, failure_code, failure_message, failed_node, created_at)
      SELECT md5(n::text)::uuid, 'flow', 1, 'flow@1#f', 'FAILED', to_json(repeat('i', 2000)), NULL, 'EXCEPTION', repeat('m', 1000), 'work', now() FROM generate_series(1, 10000) n`);
    const page = await workflows.list({ limit: 500, status: 'FAILED' });
    expect(page.runs).toHaveLength(500);
    expect(JSON.stringify(page).length / 500).toBeLessThan(500);
    await expect(workflows.count('flow')).resolves.toMatchObject({ FAILED: 10_000, COMPLETED: 0 });
  });
});

it('FAULT B2: rows that hold microseconds are paged, cancelled, retried and reaped without a miss', async () => {
  await withApp({ providers: [Work, Flow], workflow: byHand }, async (app) => {
    const workflows = app.get(WorkflowService);
    const dataSource = app.get(DataSource);
    const started = await workflows.startMany(
      Flow,
      Array.from({ length: 30 }, () => ({ input: null })),
    );
    const micro = `timestamptz '2020-01-01 00:00:00.123456+00'`;
    await dataSource.query(`UPDATE workflow_runs SET created_at = ${micro}, started_at = ${micro}`);
    await dataSource.query(`UPDATE workflow_stage_runs SET created_at = ${micro}`);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof workflows.list>> = await workflows.list({ limit: 7, cursor });
      seen.push(...page.runs.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== null);
    expect(seen).toHaveLength(30);
    expect(new Set(seen)).toEqual(new Set(started.map(({ run }) => run.id)));

    const [cancelled, failed, lost] = started.map(({ run }) => run);
    await workflows.cancel(cancelled!);
    await dataSource.query(
      `UPDATE workflow_jobs SET state = 1, claim_token = gen_random_uuid(), locked_by = 'dead', locked_at = ${micro},
      started_at = now() WHERE run_id = $1`,
      [lost!.id],
    );
    await dataSource.query(
      `UPDATE workflow_stage_runs s SET status = 'RUNNING', attempt = 1, claim_token = j.claim_token, started_at = ${micro}
      FROM workflow_jobs j WHERE j.stage_run_id = s.id AND s.run_id = $1`,
      [lost!.id],
    );
    await expect(app.get(WakeService).wake()).resolves.toMatchObject({ reclaimed: 1, errors: [] });
    await app.get(WorkflowHost).processAvailable();
    await expect(workflows.result(lost!)).resolves.toEqual({ left: null, right: null });
    await expect(workflows.result(failed!)).resolves.toEqual({ left: null, right: null });
    await expect(workflows.get(cancelled!)).resolves.toMatchObject({ status: 'CANCELLED' });
  });
});

it('FAULT C12: of eight dispatchers that pick the same rows each row has one', async () => {
  const database = await freshDatabase();
  const ran: string[] = [];
  const Once = stageOf('once', (ctx) => void ran.push(ctx.stage.runId));
  const Single = flowOf('single', [Once]);
  const apps = await Promise.all(
    Array.from({ length: 2 }, () => startApp({ database, providers: [Once, Single], workflow: byHand })),
  );
  const workflows = apps[0]!.get(WorkflowService);
  const started = await workflows.startMany(
    Single,
    Array.from({ length: 200 }, () => ({ input: null })),
  );
  const hosts = Array.from({ length: 8 }, (_, at) => apps[at % 2]!.get(WorkflowHost));
  const reports = await Promise.all(hosts.map((host) => host.processAvailable({ max: 200 })));
  expect(reports.reduce((sum, { processed }) => sum + processed, 0)).toBe(200);
  expect(ran).toHaveLength(200);
  expect(new Set(ran).size).toBe(200);

  // One job that eight are told to run at once.
  const { run } = await workflows.start(Single, null);
  const stageRunId = (await workflows.history(run)).stages[0]!.id;
  const answers = await Promise.all(hosts.map((host) => host.handleJob({ stageRunId })));
  expect(answers.filter(({ ghost }) => !ghost)).toHaveLength(1);
  expect(ran).toHaveLength(201);
  await expect(workflows.count('single')).resolves.toMatchObject({ COMPLETED: started.length + 1 });
  await Promise.all(apps.map((app) => app.close()));
});
