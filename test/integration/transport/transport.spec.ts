import type { TestingModule } from '@nestjs/testing';
import { WorkflowService, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { InProcessTransport } from 'nestjs-workflow-engine/testing';
import { startApp } from '../../e2e/app.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { CrookedBroker } from './crooked-broker.js';
import { Carried, FLOWS, HeldFlow, Ran } from './flow.js';

const apps: TestingModule[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** One process of several on a broker and a database. */
async function processOn(database: FreshDatabase, broker: CrookedBroker, workflow: WorkflowModuleOptions = {}) {
  const transport = new InProcessTransport(broker);
  const app = await startApp({
    database,
    providers: FLOWS,
    workflow: { transport, wake: { every: 50 }, requeueAfter: 200, ...workflow },
  });
  apps.push(app);
  return { app, workflows: app.get(WorkflowService), ran: app.get(Ran) };
}

async function runAll(workflows: WorkflowService, count: number): Promise<unknown[]> {
  const started = await workflows.startMany(
    Carried,
    Array.from({ length: count }, (_, run) => ({ input: { run } })),
  );
  return Promise.all(started.map(({ run }) => workflows.result(run)));
}

/** Every attempt once: a retry of the first stage, three branches, the last one. */
function expectEachOnce(ran: readonly string[], runs: number): void {
  expect(new Set(ran).size).toBe(ran.length);
  expect(ran).toHaveLength(6 * runs);
}

async function expectSound(database: FreshDatabase): Promise<void> {
  const pool = database.openPool();
  expect(await brokenInvariants(pool)).toEqual({});
  const { rows } = await pool.query('SELECT state FROM workflow_jobs');
  expect(rows).toEqual([]);
  await pool.end();
}

/** Resolves at the put after which it is so. */
async function putInto(broker: CrookedBroker, isSo: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!isSo()) return;
      stopLooking();
      resolve();
    };
    const stopLooking = broker.onPut(look);
    look();
  });
}

it('JOB-3: two processes run pipelines with a group and a retry to the end, all of it by messages', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  const options = { wake: { every: false }, worker: { concurrency: 2 } } as const;
  const [one, two] = [await processOn(database, broker, options), await processOn(database, broker, options)];
  expect(await runAll(one.workflows, 20)).toEqual(Array.from({ length: 20 }, () => 'left,middle,right'));
  expectEachOnce([...one.ran.attempts, ...two.ran.attempts], 20);
  expect(new Set(broker.seen.map(({ id }) => id)).size).toBe(120);
  expect(two.ran.attempts.length).toBeGreaterThan(0);
  await expectSound(database);
});

it('JOB-5: runs whose messages get lost end, each attempt run once', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  broker.copies = (nth) => (nth % 3 === 0 ? 0 : 1);
  const { workflows, ran } = await processOn(database, broker);
  await runAll(workflows, 10);
  expect(broker.dropped.length).toBeGreaterThanOrEqual(20);
  expectEachOnce(ran.attempts, 10);
  await expectSound(database);
});

it('JOB-5, GHOST-4: messages that come three times run once', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  broker.copies = () => 3;
  const one = await processOn(database, broker);
  const two = await processOn(database, broker);
  await runAll(one.workflows, 10);
  expectEachOnce([...one.ran.attempts, ...two.ran.attempts], 10);
  await expectSound(database);
});

it('JOB-5: a process without a worker sends what it starts; others run it', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  const web = await processOn(database, broker, { worker: false });
  await processOn(database, broker);
  expect(await runAll(web.workflows, 2)).toEqual(['left,middle,right', 'left,middle,right']);
  expect(web.ran.attempts).toEqual([]);
});

it('JOB-3, CANCEL-2: a cancelled run takes its message back, after the commit', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  broker.closed = true;
  const { workflows, ran } = await processOn(database, broker, { requeueAfter: '1h' });
  const { run } = await workflows.start(HeldFlow, { run: 1 });
  const { run: second } = await workflows.start(HeldFlow, { run: 2 });
  await putInto(broker, () => broker.size >= 2);
  await workflows.cancel(run);
  expect(broker.removed).toEqual([run.id]);
  expect(broker.size).toBe(1);
  const { run: third } = await workflows.start(HeldFlow, { run: 3 });
  broker.open();
  await Promise.all([second, third].map((each) => workflows.result(each)));
  expect(ran.attempts).toEqual(['held 1', 'held 1']);
});

it('CANCEL-3: the cancel hook of a running stage is called by a message', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  // Nothing is sent twice, however long it is on its way.
  const { workflows, ran } = await processOn(database, broker, { requeueAfter: '1h' });
  ran.holds = true;
  const { run } = await workflows.start(HeldFlow, { run: 1 });
  const signal = await ran.entered.promise;
  await workflows.cancel(run);
  await ran.hook.promise;
  expect(signal.aborted).toBe(true);
  expect(broker.seen.map(({ kind }) => kind)).toEqual(['execute', 'cancel']);
});

it('LEASE-6: what a process hands back at shutdown runs in another one, its attempt not used up', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  const one = await processOn(database, broker, { shutdownGrace: 0, wake: { every: false } });
  one.ran.holds = true;
  const { run } = await one.workflows.start(HeldFlow, { run: 1 });
  await one.ran.entered.promise;
  const two = await processOn(database, broker, { wake: { every: false } });
  const result = two.workflows.result(run);
  apps.splice(apps.indexOf(one.app), 1);
  await one.app.close();
  expect(await result).toBe('done');
  expect(two.ran.attempts).toEqual(['held 1']);
  expect(broker.seen.map(({ attempt }) => attempt)).toEqual([1, 1]);
});

it('JOB-5: without the transport the worker takes over what it still carried', async () => {
  const [database, broker] = [await freshDatabase(), new CrookedBroker()];
  broker.copies = () => 0;
  const one = await processOn(database, broker, { requeueAfter: '1h' });
  const { run } = await one.workflows.start(HeldFlow, { run: 1 });
  await putInto(broker, () => broker.dropped.length >= 1);
  apps.splice(apps.indexOf(one.app), 1);
  await one.app.close();
  const two = await processOn(database, broker, { transport: undefined });
  expect(await two.workflows.result(run)).toBe('done');
});
