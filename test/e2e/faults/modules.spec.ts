import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OnWorkflowEvent, WorkflowModule, WorkflowService, type WorkflowEvent } from 'nestjs-workflow-engine';
import { freshDatabase } from '../../support/database.js';
import { signal, startApp, withApp } from '../app.js';
import { flowOf, stageOf, told } from './scenes.js';

const heard: string[] = [];

@Injectable()
class Listener {
  @OnWorkflowEvent('run:completed')
  onCompleted({ run }: WorkflowEvent<'run:completed'>): void {
    heard.push(run.id);
  }
}

it('FAULT H3: what a dynamic module provides and exports to two others is registered once', async () => {
  let executions = 0;
  const Work = stageOf('work', () => ++executions);
  const Flow = flowOf('flow', [Work]);
  @Module({})
  class Processors {
    static register(): DynamicModule {
      const providers = [Work, Flow, Listener];
      return { module: Processors, providers, exports: providers };
    }
  }
  // Two objects: since Nest 11 two modules, each with instances of its own.
  @Module({ imports: [Processors.register()] })
  class One {}
  @Module({ imports: [Processors.register()], exports: [Processors] })
  class Two {}
  await withApp({ imports: [One, Two], providers: [] }, async (app) => {
    const workflows = app.get(WorkflowService);
    const runIds: string[] = [];
    for (let run = 0; run < 2; run++) {
      // The stream hears of an event after all handlers did.
      const completed = told(app, 'run:completed');
      await workflows.startAndWait(Flow, null);
      runIds.push((await completed).run.id);
    }
    expect(executions).toBe(2);
    expect(heard).toEqual(runIds);
  });
});

it('FAULT H7: handlers of classes that a build has given the same name all hear', async () => {
  const calls: number[] = [];
  const moduleOf = (id: number): DynamicModule => {
    class a {
      b(): void {
        calls.push(id);
      }
    }
    Injectable()(a);
    OnWorkflowEvent('run:completed')(a.prototype, 'b', Object.getOwnPropertyDescriptor(a.prototype, 'b')!);
    class c {}
    Module({ providers: [a] })(c);
    return { module: c };
  };
  const Work = stageOf('work', () => 1);
  const Flow = flowOf('flow', [Work]);
  await withApp({ imports: [moduleOf(1), moduleOf(2)], providers: [Work, Flow] }, async (app) => {
    const completed = told(app, 'run:completed');
    await app.get(WorkflowService).startAndWait(Flow, null);
    await completed;
    expect(calls.sort()).toEqual([1, 2]);
  });
});

it('FAULT K16: decorators and module of a second copy of the package belong to the same engine', async () => {
  let copy!: typeof import('nestjs-workflow-engine');
  jest.isolateModules(() => {
    // What a host has once, whichever copy of ours asks for it.
    for (const shared of ['@nestjs/common', '@nestjs/core', '@nestjs/typeorm', 'typeorm', 'nestjs-cls', 'rxjs', 'zod'])
      jest.doMock(shared, () => SHARED[shared]);
    copy = jest.requireActual('nestjs-workflow-engine');
  });
  expect(copy.WorkflowService).not.toBe(WorkflowService);

  let executions = 0;
  class Work {
    execute(): number {
      return ++executions;
    }
  }
  (copy.Stage({ id: 'work' }) as any)(Work);
  class Flow {
    define(flow: any): unknown {
      return flow.pipe(Work);
    }
  }
  (copy.Workflow({ id: 'flow', version: 1, input: SHARED.zod.z.unknown() }) as any)(Flow);

  const database = await freshDatabase();
  const modules = [
    TypeOrmModule.forRoot(database.dataSourceOptions),
    WorkflowModule.forRoot(),
    copy.WorkflowModule.forRoot(),
  ];
  const app = await startApp({ database, modules, providers: [Work, Flow] });
  const [own, foreign] = [app.get(WorkflowService), app.get(copy.WorkflowService)];
  const { run } = await foreign.start('flow', null);
  await expect(own.result(run)).resolves.toBe(1);
  expect(executions).toBe(1);
  const runtimes = app.get(Symbol.for('nestjs-workflow-engine:runtime'), { strict: false, each: true });
  expect(runtimes.length).toBeGreaterThan(1);
  expect(new Set(runtimes).size).toBe(1);
  const error: unknown = await foreign.get('00000000-0000-7000-8000-000000000000').catch((reason: unknown) => reason);
  expect(copy.WorkflowError.is(error)).toBe(true);
  await app.close();
});

const SHARED: Record<string, any> = Object.fromEntries(
  ['@nestjs/common', '@nestjs/core', '@nestjs/typeorm', 'typeorm', 'nestjs-cls', 'rxjs', 'zod'].map((name) => [
    name,
    jest.requireActual(name),
  ]),
);

it('FAULT H12: a due run waits for a provider that is slow to be made', async () => {
  const Work = stageOf('work', () => 'done');
  const Flow = flowOf('flow', [Work]);
  const database = await freshDatabase();
  const web = await startApp({ database, providers: [Work, Flow], workflow: { worker: false } });
  const { run } = await web.get(WorkflowService).start(Flow, null);
  const made = signal();
  const slow = { provide: 'SLOW', useFactory: () => made.promise };
  const starting = startApp({ database, providers: [Work, Flow, slow] });
  await expect(web.get(WorkflowService).history(run)).resolves.toMatchObject({ stages: [{ attempt: 0 }] });
  made.resolve();
  const app = await starting;
  await expect(app.get(WorkflowService).result(run)).resolves.toBe('done');
  await app.close();
  await web.close();
});
