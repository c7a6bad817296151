import { ClsPluginTransactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import type { TestingModule } from '@nestjs/testing';
import { getDataSourceToken } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { DataSource } from 'typeorm';
import { WorkflowService } from 'nestjs-workflow-engine';
import { startApp } from './app.js';
import { Greeting } from './greeting.js';

describe("the host's transactions", () => {
  let app: TestingModule;
  let workflows: WorkflowService;
  let dataSource: DataSource;
  const ROLLBACK = new Error('rolled back on purpose');

  beforeAll(async () => {
    const adapter = new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() });
    app = await startApp({
      imports: [ClsModule.forRoot({ global: true, plugins: [new ClsPluginTransactional({ adapter })] })],
    });
    workflows = app.get(WorkflowService);
    dataSource = app.get(DataSource);
  });
  afterAll(() => app.close());

  const count = async (): Promise<number> => {
    const counts = await workflows.asOperator().count();
    return Object.values(counts).reduce((sum, number) => sum + number, 0);
  };

  it('RUN-1: a start with a manager exists when the transaction commits, and workers hear of it', async () => {
    const run = await dataSource.transaction(async (manager) => {
      const started = await workflows.start(Greeting, { name: 'Ada' }, { manager, idempotencyKey: 'ada' });
      await expect(workflows.get(started.run)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
      return started.run;
    });
    await expect(workflows.result(run)).resolves.toEqual({ length: 9, loud: 'HELLO ADA?' });
  });

  it('RUN-1: rolled back business data means no run, and the key is free', async () => {
    const before = await count();
    const rolledBack = dataSource.transaction(async (manager) => {
      await workflows.startMany(Greeting, [{ input: { name: 'Bob' }, idempotencyKey: 'bob' }], { manager });
      throw ROLLBACK;
    });
    await expect(rolledBack).rejects.toBe(ROLLBACK);
    await expect(count()).resolves.toBe(before);
    await expect(workflows.start(Greeting, { name: 'Bob' }, { idempotencyKey: 'bob' })).resolves.toMatchObject({
      created: true,
    });
  });

  it('RUN-1: a duplicate key does not abort the transaction', async () => {
    const first = await workflows.start(Greeting, { name: 'Cy' }, { idempotencyKey: 'cy' });
    await dataSource.transaction(async (manager) => {
      await expect(workflows.start(Greeting, { name: 'Cy' }, { manager, idempotencyKey: 'cy' })).resolves.toEqual({
        run: first.run,
        created: false,
      });
      await expect(manager.query('SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
    });
  });

  it('RUN-1: cancel takes part too', async () => {
    const { run } = await workflows.start(Greeting, { name: 'Di' }, { delay: '1h' });
    const rolledBack = dataSource.transaction(async (manager) => {
      await workflows.cancel(run, 'no', { manager });
      throw ROLLBACK;
    });
    await expect(rolledBack).rejects.toBe(ROLLBACK);
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'PENDING' });
    await dataSource.transaction((manager) => workflows.cancel(run, 'yes', { manager }));
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'CANCELLED', cancelReason: 'yes' });
  });

  it('RUN-1: the root manager is refused before anything is written', async () => {
    const before = await count();
    const { manager } = dataSource;
    await expect(workflows.start(Greeting, { name: 'Eve' }, { manager })).rejects.toMatchObject({
      code: 'ROOT_MANAGER',
    });
    const runner = dataSource.createQueryRunner();
    await expect(workflows.start(Greeting, { name: 'Eve' }, { manager: runner.manager })).rejects.toMatchObject({
      code: 'ROOT_MANAGER',
    });
    await runner.release();
    await expect(count()).resolves.toBe(before);
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'RUN-1: %s is refused for keyed starts and commands',
    async (isolation) => {
      const { run } = await workflows.start(Greeting, { name: 'Fay' }, { delay: '1h' });
      await dataSource.transaction(isolation, async (manager) => {
        const keyed = workflows.start(Greeting, { name: 'Fay' }, { manager, idempotencyKey: `fay ${isolation}` });
        await expect(keyed).rejects.toMatchObject({ code: 'ISOLATION_LEVEL', params: { isolation } });
        await expect(workflows.cancel(run, 'no', { manager })).rejects.toMatchObject({ code: 'ISOLATION_LEVEL' });
      });
      await workflows.cancel(run);
    },
  );

  it('RUN-1: an ambient transaction of @nestjs-cls/transactional is joined', async () => {
    const host = app.get<TransactionHost>(TransactionHost, { strict: false });
    const before = await count();
    const rolledBack = host.withTransaction(async () => {
      await workflows.start(Greeting, { name: 'Gus' });
      throw ROLLBACK;
    });
    await expect(rolledBack).rejects.toBe(ROLLBACK);
    await expect(count()).resolves.toBe(before);
    const { run } = await host.withTransaction(() => workflows.start(Greeting, { name: 'Gus' }));
    await expect(workflows.result(run)).resolves.toEqual({ length: 9, loud: 'HELLO GUS?' });
  });

  it('RUN-4: startAndWait in a transaction is refused', async () => {
    const host = app.get<TransactionHost>(TransactionHost, { strict: false });
    const waiting = host.withTransaction(() => workflows.startAndWait(Greeting, { name: 'Hal' }));
    await expect(waiting).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });
});
