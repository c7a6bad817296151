import type { TestingModule } from '@nestjs/testing';
import { WorkflowService, AnnotationsService, DefinitionsService, type RunHandle } from 'nestjs-workflow-engine';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { guardedApp, inRequestOf, type Form } from './guarded-app.js';
import { asOwner, guardedDatabase, poolAs, type GuardedDatabase } from './guarded-database.js';
import { Child, Life, Plain, World } from './life.js';

const OWNERS = ['acme', "o'ther \\ team €"];

describe.each<Form>(['switching', 'login'])('two owners in one process, %s', (form) => {
  let database: GuardedDatabase;
  let app: TestingModule;
  let workflows: WorkflowService;
  let world: World;
  let admin: Pool;

  beforeAll(async () => {
    database = await guardedDatabase(form);
    admin = database.openPool();
    await admin.query(`CREATE TABLE notes (owner_id text NOT NULL, text text NOT NULL)`);
    await admin.query(`GRANT SELECT, INSERT ON notes TO "${database.app}"`);
    await admin.query(`ALTER TABLE notes ENABLE ROW LEVEL SECURITY`);
    await admin.query(`CREATE POLICY own ON notes USING (owner_id = current_setting('app.owner_id', true))`);
    app = await guardedApp(database, form, { worker: { concurrency: 10 } });
    workflows = app.get(WorkflowService);
    world = app.get(World);
  });

  afterAll(async () => {
    await app.close();
    await admin.end();
    await database.dropAll();
  });

  const started = (owner: string, name: string): Promise<RunHandle<unknown>> =>
    inRequestOf(owner, async () => {
      const { run } = await workflows.start(Life, { name }, { idempotencyKey: name });
      await workflows.emit({ key: 'go', payload: name, messageId: name });
      await workflows.signal(run, 'signed', `by ${owner}`, { messageId: 's' });
      return run;
    });

  it('OWNER-5, GRAPH-2: a shared graph with triggers whose runs would be nobody’s is refused, an owner’s is not', async () => {
    const definitions = app.get(DefinitionsService).asOperator();
    const graph = {
      id: 'nightly',
      nodes: [{ id: 'over', type: 'end' }],
      edges: [],
      triggers: [
        { id: 'told', type: 'event', on: 'night' },
        { id: 'daily', type: 'schedule', cron: '0 9 1 1 *' },
        { id: 'called', type: 'webhook', auth: 'token' },
      ],
    };
    const checked = await definitions.validate(graph);
    expect(checked).toMatchObject({
      valid: false,
      problems: [
        {
          code: 'TRIGGER_REQUIRES_OWNER',
          path: '$.triggers[1].type',
          params: { workflow: 'nightly', trigger: 'schedule' },
        },
        { code: 'TRIGGER_REQUIRES_OWNER', path: '$.triggers[2].type' },
      ],
    });
    expect(await definitions.validate(graph, { owner: OWNERS[0]! })).toEqual({ valid: true, problems: [] });
    await expect(definitions.publish(graph)).rejects.toMatchObject({ code: 'INVALID_GRAPH' });
    expect(await definitions.publish(graph, { owner: OWNERS[0]! })).toMatchObject({ created: true });
    const shared = { ...graph, triggers: graph.triggers.slice(0, 1) };
    expect(await definitions.publish(shared)).toMatchObject({ created: true });
  });

  it('OWNER-4, JOB-2: whole lives side by side: parallel, steps, sleep, retry, event, signal, transaction, child', async () => {
    const names = ['first', 'second', 'third'];
    const runs = await Promise.all(
      OWNERS.flatMap((owner) => names.map(async (name) => ({ owner, name, run: await started(owner, name) }))),
    );
    for (const { owner, run } of runs) {
      const output = (await inRequestOf(owner, () => workflows.result(run))) as { owner: string; agreed: string };
      expect(output.owner).toBe(owner);
      // Any event of the owner's may have ended the wait; none of the other owner's may.
      expect(names.map((name) => `${name} by ${owner} charged child of ${name}`)).toContain(output.agreed);
      const history = await inRequestOf(owner, () => workflows.history(run));
      const noted = history.stages.find(({ key }) => key === 'noted');
      expect(noted?.output).toEqual([owner]);
      expect(history.stages.find(({ key }) => key === 'measured')).toMatchObject({ attempt: 2 });
      const page = await inRequestOf(owner, () => app.get(AnnotationsService).list(run));
      expect(page.annotations.map(({ key }) => key)).toEqual(expect.arrayContaining(['length']));
    }
    const pool = poolAs(database, database.app);
    for (const owner of OWNERS) {
      const { rows } = await asOwner(pool, owner, (client) =>
        client.query('SELECT DISTINCT owner_id FROM workflow_runs UNION SELECT owner_id FROM notes'),
      );
      expect(rows).toEqual([{ owner_id: owner }]);
      const { runs: listed } = await inRequestOf(owner, () => workflows.list({ limit: 500 }));
      // Three lives with a child each, and one that they all started beside under one key.
      expect(listed).toHaveLength(7);
    }
    await pool.end();
    expect(await inRequestOf(OWNERS[0]!, () => workflows.count())).toMatchObject({ COMPLETED: 7 });
  });

  it('OWNER-4: cancel with its hook, retry, rerun and the operator', async () => {
    world.undone.length = 0;
    const waiting = await inRequestOf('acme', () => workflows.start(Life, { name: 'waiting' }));
    world.broken.add('acme');
    const failing = await started('acme', 'failing');
    await expect(inRequestOf('acme', () => workflows.result(failing))).rejects.toMatchObject({ code: 'RUN_FAILED' });
    world.broken.clear();
    await inRequestOf('acme', () => workflows.retry(failing));
    expect(await inRequestOf('acme', () => workflows.result(failing))).toMatchObject({ owner: 'acme' });
    await inRequestOf('acme', () => workflows.rerunFrom(failing, 'finish', { idempotencyKey: 'again' }));
    expect(await inRequestOf('acme', () => workflows.result(failing))).toMatchObject({ owner: 'acme' });
    const again = await inRequestOf('acme', () => workflows.rerunFrom(failing, 'finish', { idempotencyKey: 'again' }));
    expect(again).toEqual({ generation: 2, duplicate: true });
    await inRequestOf('acme', () => workflows.cancel(waiting.run, 'not needed'));
    expect((await workflows.asOperator().get(waiting.run)).status).toBe('CANCELLED');
    const operators = await workflows.asOperator().list({ limit: 500 });
    expect(new Set(operators.runs.map(({ owner }) => owner))).toEqual(new Set(OWNERS));
  });

  it("OWNER-4: another owner's run answers as one that does not exist", async () => {
    const { run } = await inRequestOf('acme', () => workflows.start(Plain, { name: 'mine' }));
    await inRequestOf('acme', () => workflows.result(run));
    const none = '01999999-0000-7000-8000-000000000000';
    const calls = [
      (id: string) => workflows.get(id),
      (id: string) => workflows.history(id),
      (id: string) => workflows.cancel(id),
      (id: string) => workflows.retry(id),
      (id: string) => workflows.rerunFrom(id, 'measure'),
      (id: string) => workflows.signal(id, 'signed'),
      (id: string) => workflows.result(id, { timeout: '1s' }),
      async (id: string) => (await app.get(AnnotationsService).list(id)).annotations.length,
    ];
    const answer = (id: string, call: (id: string) => Promise<unknown>): Promise<string> =>
      inRequestOf('stranger', () => call(id)).then(String, (error: Error) => error.message.replaceAll(id, 'X'));
    for (const call of calls) expect(await answer(run.id, call)).toBe(await answer(none, call));
    expect((await inRequestOf('stranger', () => workflows.list())).runs).toEqual([]);
  });

  it('OWNER-5: nothing is nobody’s', async () => {
    const required = expect.objectContaining({ code: 'OWNER_REQUIRED' }) as unknown;
    const given: (() => Promise<unknown>)[] = [
      () => workflows.start(Plain, { name: 'x' }),
      () => workflows.list(),
      () => workflows.get('01999999-0000-7000-8000-000000000000'),
      () => workflows.emit({ key: 'go' }),
      () => app.get(AnnotationsService).list('01999999-0000-7000-8000-000000000000'),
    ];
    for (const call of given) await expect(inRequestOf(null, call)).rejects.toEqual(required);
    await expect(workflows.start(Plain, { name: 'x' }, { owner: null })).rejects.toEqual(required);
  });

  describe('inside a transaction of the host', () => {
    const owned = async (query: (sql: string) => Promise<unknown>): Promise<unknown> =>
      ((await query(`SELECT current_setting('app.owner_id', true) AS owner`)) as { owner: unknown }[])[0]?.owner;

    it("OWNER-4: it is the caller's again after a start for another owner, and after a failure", async () => {
      const dataSource = app.get(DataSource);
      const [acme, other] = OWNERS as [string, string];
      await dataSource.transaction(async (manager) => {
        const query = (sql: string): Promise<unknown> => manager.query(sql);
        await manager.query(`SELECT set_config('app.owner_id', $1, true)`, [acme]);
        const theirs = await workflows.start(Child, { name: 'theirs' }, { owner: other, manager });
        expect(await owned(query)).toBe(acme);
        const many = await workflows.startMany(
          Child,
          [acme, other, acme, other].map((owner, nr) => ({
            input: { name: `${nr}` },
            owner,
            idempotencyKey: `many ${nr}`,
          })),
          { manager },
        );
        expect(many.map(({ created }) => created)).toEqual([true, true, true, true]);
        expect(await owned(query)).toBe(acme);
        await expect(inRequestOf(acme, () => workflows.cancel(theirs.run, 'no', { manager }))).rejects.toMatchObject({
          code: 'RUN_NOT_FOUND',
        });
        expect(await owned(query)).toBe(acme);
        await inRequestOf(other, () => workflows.emit({ key: 'unheard', manager }));
        await inRequestOf(other, () => workflows.cancel(theirs.run, 'yes', { manager }));
        expect(await owned(query)).toBe(acme);
        expect(await manager.query('SELECT DISTINCT owner_id FROM workflow_runs')).toEqual([{ owner_id: acme }]);
      });
      expect(await owned((sql) => dataSource.query(sql))).toBeFalsy();
    });

    it('OWNER-4: calls for two owners at once on one connection keep apart', async () => {
      await app.get(DataSource).transaction(async (manager) => {
        const starts = OWNERS.flatMap((owner) =>
          [1, 2, 3].map((nr) => workflows.start(Child, { name: `${nr}` }, { owner, manager })),
        );
        expect((await Promise.all(starts)).every(({ created }) => created)).toBe(true);
        expect(await owned((sql) => manager.query(sql))).toBeFalsy();
      });
    });

    it('OWNER-4: an operator changes a run of any owner there, one of the same transaction too', async () => {
      const { run } = await inRequestOf('acme', () => workflows.start(Life, { name: 'by operator' }));
      await app.get(DataSource).transaction(async (manager) => {
        await workflows.asOperator().cancel(run, 'by an operator', { manager });
        expect(await owned((sql) => manager.query(sql))).toBeFalsy();
        await manager.query(`SELECT set_config('app.owner_id', 'acme', true)`);
        const fresh = await workflows.start(Child, { name: 'fresh' }, { owner: 'acme', manager });
        await workflows.asOperator().cancel(fresh.run, 'of this transaction', { manager });
      });
      expect((await workflows.asOperator().get(run)).status).toBe('CANCELLED');
    });
  });
});
