import { Global, Injectable, Module } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { filter, firstValueFrom } from 'rxjs';
import { DataSource } from 'typeorm';
import {
  InvalidOptionsError,
  WorkflowModule,
  WorkflowService,
  type WorkflowModuleAsyncOptions,
  type WorkflowModuleOptions,
  type WorkflowOptionsFactory,
} from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { buildApp, startApp, withApp } from './app.js';
import { Greeting, Listener } from './greeting.js';

const OUTPUT = { length: 9, loud: 'HELLO ADA?' };

describe('WorkflowModule.forRoot', () => {
  it('FAULT H1: imported in three modules it is one engine, and each handler hears once', async () => {
    const database = await freshDatabase();
    const options = (): WorkflowModuleOptions => ({ owners: { resolve: () => 'team-a' }, worker: { concurrency: 2 } });
    @Module({ imports: [WorkflowModule.forRoot(options())] })
    class One {}
    @Module({ imports: [WorkflowModule.forRoot(options())], exports: [WorkflowModule] })
    class Two {}
    const modules = [TypeOrmModule.forRoot(database.dataSourceOptions), WorkflowModule.forRoot(options()), One, Two];
    await withApp({ database, modules }, async (app) => {
      const workflows = app.get(WorkflowService);
      const completed = firstValueFrom(workflows.events().pipe(filter(({ type }) => type === 'run:completed')));
      await expect(workflows.startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual(OUTPUT);
      await completed;
      expect(app.get(Listener).heard.map(({ type }) => type)).toEqual(['run:started', 'run:completed']);
      expect(app.select(One).get(WorkflowService, { strict: false })).toBe(
        app.select(Two).get(WorkflowService, { strict: false }),
      );
    });
  });

  it('FAULT H2: two imports that want different options are refused, naming the option', async () => {
    const database = await freshDatabase();
    const modules = [
      TypeOrmModule.forRoot(database.dataSourceOptions),
      WorkflowModule.forRoot({ worker: { concurrency: 2 } }),
      WorkflowModule.forRoot({ worker: { concurrency: 3 } }),
    ];
    const built = buildApp({ database, modules });
    await expect(built).rejects.toMatchObject({ code: 'INVALID_OPTIONS', problems: [{ path: 'worker' }] });
  });

  it('MOD-1: wrong options stop the app, each of them named', async () => {
    const built = buildApp({ workflow: { worker: { concurency: 1 }, wake: { every: '5 parsecs' } } as never });
    const error = await built.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as InvalidOptionsError).problems.map(({ path }) => path)).toEqual([
      'worker.concurency',
      'wake.every',
    ]);
  });

  it('MOD-1: a feature module injects the service without an import', async () => {
    @Injectable()
    class Feature {
      constructor(readonly workflows: WorkflowService) {}
    }
    @Module({ providers: [Feature] })
    class FeatureModule {}
    await withApp({ imports: [FeatureModule] }, async (app) => {
      expect(app.get(Feature, { strict: false }).workflows).toBe(app.get(WorkflowService));
    });
  });

  it('MOD-1: isGlobal false keeps it to who imports it', async () => {
    @Injectable()
    class Feature {
      constructor(readonly workflows: WorkflowService) {}
    }
    @Module({ providers: [Feature] })
    class FeatureModule {}
    await expect(buildApp({ workflow: { isGlobal: false }, imports: [FeatureModule] })).rejects.toThrow(
      /WorkflowService/,
    );
  });
});

describe('WorkflowModule.forRootAsync', () => {
  @Injectable()
  class Settings implements WorkflowOptionsFactory {
    createWorkflowOptions(): WorkflowModuleOptions {
      return { worker: { concurrency: 3 } };
    }
  }
  @Global()
  @Module({ providers: [Settings], exports: [Settings] })
  class SettingsModule {}

  const ways: [string, WorkflowModuleAsyncOptions][] = [
    [
      'useFactory',
      {
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: (settings: Settings) => settings.createWorkflowOptions(),
      },
    ],
    ['useClass', { useClass: Settings }],
    ['useExisting', { imports: [SettingsModule], useExisting: Settings }],
  ];

  it.each(ways)('FAULT H16: takes %s', async (_way, options) => {
    const database = await freshDatabase();
    const modules = [TypeOrmModule.forRoot(database.dataSourceOptions), WorkflowModule.forRootAsync(options)];
    await withApp({ database, modules }, async (app) => {
      await expect(app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual(OUTPUT);
    });
  });
});

describe('the host', () => {
  it('FAULT H9: the tables are in the DataSource that is named, none other', async () => {
    const [main, other] = [await freshDatabase({ empty: true }), await freshDatabase()];
    const modules = [
      TypeOrmModule.forRoot(main.dataSourceOptions),
      TypeOrmModule.forRoot({ ...other.dataSourceOptions, name: 'wf' }),
      WorkflowModule.forRoot({ dataSource: 'wf' }),
    ];
    await withApp({ database: other, modules }, async (app) => {
      await expect(app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual(OUTPUT);
    });
  });

  it('FAULT H9: a DataSource that is not there is named, with those that are', async () => {
    const database = await freshDatabase();
    const modules = [
      TypeOrmModule.forRoot({ ...database.dataSourceOptions, name: 'main' }),
      WorkflowModule.forRoot({ dataSource: 'wf' }),
    ];
    const app = await buildApp({ database, modules });
    await expect(app.init()).rejects.toMatchObject({
      code: 'DATA_SOURCE_NOT_FOUND',
      params: { dataSource: 'wf', known: ['main'] },
    });
    await app.close();
  });

  it('MOD-1: a DataSource object will do, without TypeOrmModule', async () => {
    const database = await freshDatabase();
    const dataSource = new DataSource(database.dataSourceOptions);
    await withApp({ database, modules: [WorkflowModule.forRoot({ dataSource })] }, async (app) => {
      await expect(app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual(OUTPUT);
    });
  });

  it('MOD-1: works beside the ClsModule and ScheduleModule of the host', async () => {
    const imports = [ClsModule.forRoot({ global: true }), ScheduleModule.forRoot()];
    await withApp({ imports }, async (app) => {
      await expect(app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual(OUTPUT);
    });
  });

  it('WAKE-7: the wake pass is an interval of the host, until the app closes', async () => {
    const app = await startApp({ imports: [ScheduleModule.forRoot()] });
    const registry = app.get(SchedulerRegistry, { strict: false });
    expect(registry.getIntervals()).toEqual(['workflow-wake']);
    await app.close();
    expect(registry.getIntervals()).toEqual([]);
  });

  it('WAKE-7: wake.every false turns it off', async () => {
    await withApp({ imports: [ScheduleModule.forRoot()], workflow: { wake: { every: false } } }, async (app) => {
      expect(app.get(SchedulerRegistry, { strict: false }).getIntervals()).toEqual([]);
    });
  });
});

describe('migrations', () => {
  it('OPS-3: boot is refused when tables are missing, naming them', async () => {
    const app = await buildApp({ database: await freshDatabase({ empty: true }) });
    await expect(app.init()).rejects.toMatchObject({ code: 'MIGRATIONS_BEHIND' });
    await app.close();
  });

  it("OPS-3: migrations 'run' makes them", async () => {
    const database = await freshDatabase({ empty: true });
    await withApp({ database, workflow: { migrations: 'run', schema: 'flows', tablePrefix: 'wf_' } }, async (app) => {
      await expect(app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual(OUTPUT);
    });
  });
});
