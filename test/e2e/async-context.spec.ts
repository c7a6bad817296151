import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, type INestApplicationContext } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  OnWorkflowEvent,
  Stage,
  WakeService,
  Workflow,
  WorkflowHost,
  WorkflowService,
  type Flow,
  type StageContext,
  type WorkflowEvent,
} from 'nestjs-workflow-engine';
import { z } from 'zod';
import { signal, startApp } from './app.js';

/** What a host keeps beside nestjs-cls: a transaction of another library, say, or who asks. */
const request = new AsyncLocalStorage<string>();

const input = z.object({});
type Input = { input: typeof input };

@Stage({ id: 'durable', input })
class Durable {
  execute(ctx: StageContext<Input>): Promise<string> {
    return ctx.step.run('look', () => request.getStore() ?? 'nobody');
  }
}

@Workflow({ id: 'started-by-a-step', version: 1, input })
class StartedByAStep {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Durable);
  }
}

@Stage({ id: 'start-another', input })
class StartAnother {
  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  execute(ctx: StageContext<Input>): Promise<string> {
    const workflows = this.modules.get(WorkflowService, { strict: false });
    return ctx.step.run('start', () =>
      request.run('the step of another run', async () => {
        const { run } = await workflows.start(StartedByAStep, {});
        // Kept open until the other has ended, so that it is this call that woke the worker.
        return String(await workflows.result(run));
      }),
    );
  }
}

@Workflow({ id: 'starts-in-a-step', version: 1, input })
class StartsInAStep {
  define(flow: Flow<typeof input>) {
    return flow.pipe(StartAnother);
  }
}

@Injectable()
class Listener {
  readonly heard = signal<string>();

  @OnWorkflowEvent('run:completed')
  onCompleted(event: WorkflowEvent): void {
    if (event.run.definition === 'started-by-a-step') this.heard.resolve(request.getStore() ?? 'nobody');
  }
}

describe('the async context of whoever wakes the engine', () => {
  let app: INestApplicationContext;
  let workflows: WorkflowService;

  beforeAll(async () => {
    app = await startApp({ providers: [Durable, StartedByAStep, StartAnother, StartsInAStep, Listener] });
    workflows = app.get(WorkflowService);
  });
  afterAll(() => app.close());

  it('OWNER-1: a run that a step starts is inside no step', async () => {
    const { run } = await workflows.start(StartsInAStep, {});
    expect(await workflows.result(run)).toBe('nobody');
  });

  it('OWNER-1: neither a stage nor an event handler sees what the request that woke its process keeps', async () => {
    const { run } = await request.run('the request', () => workflows.start(StartedByAStep, {}));
    expect(await workflows.result(run)).toBe('nobody');
    expect(await app.get(Listener).heard.promise).toBe('nobody');
  });
});

describe('a host that works by hand, in a request', () => {
  it('OWNER-1, OWNER-2: neither the stage, nor its event handler, nor who it acts as, is of the request', async () => {
    const acted: string[] = [];
    const systemActor = (): object => ({ id: acted.push(request.getStore() ?? 'nobody') });
    const app = await startApp({
      providers: [Durable, StartedByAStep, Listener],
      workflow: { worker: false, systemActor },
    });
    const workflows = app.get(WorkflowService);
    const { run } = await workflows.start(StartedByAStep, {});
    await request.run('the request', async () => {
      await app.get(WorkflowHost).processAvailable();
      await app.get(WakeService).wake();
    });
    expect(await workflows.result(run)).toBe('nobody');
    expect(await app.get(Listener).heard.promise).toBe('nobody');
    expect(new Set(acted)).toEqual(new Set(['nobody']));
    await app.close();
  });
});
