import { ClsPluginTransactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { getDataSourceToken } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { Stage, Workflow, WorkflowService, type Flow, type StageContext } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { DataSource, type EntityManager } from 'typeorm';
import { z } from 'zod';
import { startApp } from './app.js';

const input = z.object({ fails: z.boolean() });

/** Writes a note, and starts another run, as code does that knows of no manager. */
class Notes {
  constructor(private readonly tx: () => Pick<EntityManager, 'query'>) {}

  add(text: string): Promise<unknown> {
    return this.tx().query('INSERT INTO notes (text) VALUES ($1)', [text]);
  }
}

@Stage({ id: 'note', input, retry: { maxAttempts: 1 } })
class Note {
  constructor(
    private readonly notes: Notes,
    private readonly workflows: WorkflowService,
  ) {}

  async execute(ctx: StageContext<{ input: typeof input }>): Promise<number> {
    return ctx.transaction('note', async (manager: EntityManager) => {
      await manager.query(`INSERT INTO notes (text) VALUES ('by manager')`);
      await this.notes.add('by the ambient one');
      await this.workflows.start(Ping, null);
      if (ctx.input.fails) throw new Error('no');
      return 1;
    });
  }
}

@Stage({ id: 'pong' })
class Pong {
  async execute(_ctx: StageContext): Promise<number> {
    return 1;
  }
}

@Workflow({ id: 'ping', version: 1, input: z.null() })
class Ping {
  define(flow: Flow<z.ZodNull>) {
    return flow.pipe(Pong);
  }
}

@Workflow({ id: 'noting', version: 1, input })
class Noting {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Note);
  }
}

@Stage({ id: 'alone', retry: { maxAttempts: 1 } })
class Alone {
  async execute(ctx: StageContext): Promise<number> {
    return ctx.transaction('alone', async () => 1);
  }
}

@Workflow({ id: 'aside', version: 1, input: z.null() })
class Aside {
  define(flow: Flow<z.ZodNull>) {
    return flow.pipe(Alone);
  }
}

@Stage({ id: 'closing', retry: { maxAttempts: 1 } })
class Closing {
  async execute(ctx: StageContext): Promise<number> {
    ctx.recordWith(async () => 1);
    return 1;
  }
}

@Workflow({ id: 'close', version: 1, input: z.null() })
class Close {
  define(flow: Flow<z.ZodNull>) {
    return flow.pipe(Closing);
  }
}

const FLOWS = [Note, Noting, Pong, Ping];

describe('ctx.transaction in an app', () => {
  it('TX-3: what is called joins it, where @nestjs-cls/transactional is set up', async () => {
    const adapter = new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() });
    const notes = {
      provide: Notes,
      inject: [TransactionHost],
      useFactory: (host: TransactionHost<TransactionalAdapterTypeOrm>) => new Notes(() => host.tx),
    };
    const app = await startApp({
      imports: [ClsModule.forRoot({ global: true, plugins: [new ClsPluginTransactional({ adapter })] })],
      providers: [...FLOWS, notes],
    });
    const workflows = app.get(WorkflowService);
    const dataSource = app.get(DataSource);
    await dataSource.query('CREATE TABLE notes (text text NOT NULL)');
    const failing = await workflows.start(Noting, { fails: true });
    await expect(workflows.result(failing.run)).rejects.toMatchObject({ code: 'RUN_FAILED' });
    expect(await dataSource.query('SELECT * FROM notes')).toEqual([]);
    expect((await workflows.asOperator().list({ definition: 'ping' })).runs).toEqual([]);
    const { run } = await workflows.start(Noting, { fails: false });
    expect(await workflows.result(run)).toBe(1);
    const written = await dataSource.query('SELECT DISTINCT xmin::text AS xmin FROM notes');
    const steps = await dataSource.query(`SELECT xmin::text AS xmin FROM workflow_steps WHERE status = 'completed'`);
    expect(await dataSource.query('SELECT count(*)::int AS n FROM notes')).toEqual([{ n: 2 }]);
    expect(written).toEqual(steps);
    expect((await workflows.asOperator().list({ definition: 'ping' })).runs).toHaveLength(1);
    await app.close();
  });

  it.each([Aside, Close])('TX-3: the in-memory store has none, and says so (%p)', async (flow) => {
    const providers = [Alone, Aside, Closing, Close];
    const t = await WorkflowTester.create({ store: 'memory', workflow: {}, providers });
    const run = await t.start(flow, null);
    await t.drain();
    const { failure } = (await t.history(run)).run;
    expect(failure).toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringContaining('PostgreSQL') });
    await t.close();
  });
});
