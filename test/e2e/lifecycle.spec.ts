import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import {
  ShuttingDownError,
  Stage,
  Workflow,
  WorkflowHost,
  WorkflowService,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
} from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { buildApp, signal, startApp } from './app.js';
import { GREETING, Greeting } from './greeting.js';

const schemas = { input: z.object({}), output: z.string() };

/** A stage that a test holds in its hand. */
@Injectable()
class Gate {
  readonly entered = signal<AbortSignal>();
  readonly opened = signal<string>();
}

@Stage({ id: 'gated', ...schemas })
class Gated implements StageHandler<typeof schemas> {
  constructor(private readonly gate: Gate) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<string> {
    this.gate.entered.resolve(ctx.abortSignal);
    return this.gate.opened.promise;
  }
}

@Workflow({ id: 'gated-flow', version: 1, input: schemas.input })
class GatedFlow implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Gated);
  }
}

const GATED = [Gate, Gated, GatedFlow];

describe('shutdown', () => {
  it('LEASE-6: a body that runs may end within the grace, and its outcome is recorded', async () => {
    const database = await freshDatabase();
    const app = await startApp({ database, providers: GATED });
    const { run } = await app.get(WorkflowService).start(GatedFlow, {});
    const gate = app.get(Gate);
    await gate.entered.promise;
    const closing = app.close();
    gate.opened.resolve('done');
    await closing;
    const other = await startApp({ database, providers: GATED, workflow: { worker: false } });
    await expect(other.get(WorkflowService).get(run)).resolves.toMatchObject({ status: 'COMPLETED', output: 'done' });
    await other.close();
  });

  it('LEASE-6: a body that does not end is aborted and handed back, its attempt not used up', async () => {
    const database = await freshDatabase();
    const app = await startApp({ database, providers: GATED, workflow: { shutdownGrace: 10 } });
    const { run } = await app.get(WorkflowService).start(GatedFlow, {});
    const abortSignal = await app.get(Gate).entered.promise;
    await app.close();
    expect(abortSignal.reason).toMatchObject({ code: 'STAGE_ABORTED', params: { reason: 'shutdown' } });
    const other = await startApp({ database, providers: GATED });
    const gate = other.get(Gate);
    gate.opened.resolve('by the other');
    await expect(other.get(WorkflowService).result(run)).resolves.toBe('by the other');
    await expect(other.get(WorkflowService).history(run)).resolves.toMatchObject({
      stages: [{ attempt: 1, losses: 0 }],
    });
    await other.close();
  });

  it('FAULT K38: who waits for a result is rejected at once', async () => {
    const app = await startApp({ providers: GATED });
    const waiting = app.get(WorkflowService).startAndWait(GatedFlow, {});
    const rejected = expect(waiting).rejects.toBeInstanceOf(ShuttingDownError);
    const gate = app.get(Gate);
    await gate.entered.promise;
    const closing = app.close();
    await rejected;
    gate.opened.resolve('done');
    await closing;
  });

  it('LEASE-6: a call after the end says that the process is going', async () => {
    const app = await startApp();
    const workflows = app.get(WorkflowService);
    await app.close();
    await expect(workflows.start(Greeting, { name: 'Ada' })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('FAULT K14: an app that never came up closes', async () => {
    const app = await buildApp({ database: await freshDatabase({ empty: true }) });
    await expect(app.init()).rejects.toMatchObject({ code: 'MIGRATIONS_BEHIND' });
    await app.close();
  });
});

describe('boot', () => {
  it('FAULT G7: an app whose database was not ready comes up at the second try', async () => {
    const database = await freshDatabase({ empty: true });
    const app = await buildApp({ database });
    await expect(app.init()).rejects.toMatchObject({ code: 'MIGRATIONS_BEHIND' });
    const maker = await startApp({ database, workflow: { migrations: 'run' } });
    await maker.close();
    await app.init();
    await expect(app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' })).resolves.toMatchObject({
      length: 9,
    });
    await app.close();
  });

  it('FAULT H12: nothing is claimed before every module is initialised', async () => {
    const database = await freshDatabase();
    const before = await startApp({ database, providers: GATED, workflow: { worker: false } });
    const { run } = await before.get(WorkflowService).start(GatedFlow, {});
    await before.close();

    const init = signal();
    @Injectable()
    class SlowClient {
      constructor(private readonly gate: Gate) {}

      async onModuleInit(): Promise<void> {
        await init.promise;
        // Whoever was let in before finds the gate open with this.
        this.gate.opened.resolve('after init');
      }
    }
    const app = await buildApp({ database, providers: [...GATED, SlowClient] });
    let early = false;
    void app.get(Gate).entered.promise.then(() => (early = true));
    const initialised = app.init();
    await expect(app.get(WorkflowService).get(run)).resolves.toMatchObject({ status: 'RUNNING' });
    expect(early).toBe(false);
    init.resolve();
    await initialised;
    await expect(app.get(WorkflowService).result(run)).resolves.toBe('after init');
    await app.close();
  });

  it('DEF-3: all faulty definitions are named at once, and the app does not come up', async () => {
    @Stage({ id: 'salute' })
    class Other {
      async execute(_ctx: StageContext): Promise<void> {}
    }
    @Workflow({ id: 'empty', version: 1, input: schemas.input })
    class Empty implements WorkflowBlueprint<typeof schemas.input> {
      define(flow: Flow<typeof schemas.input>) {
        return flow;
      }
    }
    const app = await buildApp({ providers: [...GREETING, Other, Empty] });
    const error: unknown = await app.init().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'INVALID_DEFINITION' });
    expect(String(error)).toMatch(/Other \(RootTestModule\)/);
    expect(String(error)).toMatch(/Empty \(RootTestModule\)/);
    await app.close();
  });

  it('DEF-4: another structure under the same version is refused while runs of the old one are unfinished', async () => {
    const database = await freshDatabase();
    const before = await startApp({ database, providers: GATED, workflow: { worker: false } });
    const { run } = await before.get(WorkflowService).start(GatedFlow, {});
    await before.close();

    @Workflow({ id: 'gated-flow', version: 1, input: schemas.input })
    class Changed implements WorkflowBlueprint<typeof schemas.input> {
      define(flow: Flow<typeof schemas.input>) {
        return flow.pipe(Gated, { key: 'other' });
      }
    }
    const refused = await buildApp({ database, providers: [Gate, Gated, Changed] });
    await expect(refused.init()).rejects.toMatchObject({ code: 'DEFINITION_DRIFT' });
    await refused.close();

    const warned = await startApp({ database, providers: [Gate, Gated, Changed], workflow: { onDrift: 'warn' } });
    await warned.get(WorkflowService).cancel(run);
    await warned.close();
    const after = await startApp({ database, providers: [Gate, Gated, Changed] });
    await after.close();
  });
});

describe('a process without a worker', () => {
  it('HOST-1: starts runs, reads results of others, and runs nothing by itself', async () => {
    const database = await freshDatabase();
    const web = await startApp({ database, workflow: { worker: false } });
    const workflows = web.get(WorkflowService);
    const { run } = await workflows.start(Greeting, { name: 'Ada' });
    const waiting = workflows.result(run);
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'RUNNING' });
    const worker = await startApp({ database });
    await expect(waiting).resolves.toEqual({ length: 9, loud: 'HELLO ADA?' });
    await worker.close();
    await web.close();
  });

  it('HOST-1: processAvailable runs what is due, within its limit', async () => {
    const app = await startApp({ workflow: { worker: false } });
    const workflows = app.get(WorkflowService);
    const host = app.get(WorkflowHost);
    const { run } = await workflows.start(Greeting, { name: 'Ada' });
    await expect(host.processAvailable({ max: 1 })).resolves.toEqual({ processed: 1, more: true });
    await expect(host.processAvailable()).resolves.toEqual({ processed: 2, more: false });
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'COMPLETED' });
    await app.close();
  });

  it('HOST-1: handleJob runs the job that a message names, once', async () => {
    const app = await startApp({ workflow: { worker: false } });
    const workflows = app.get(WorkflowService);
    const host = app.get(WorkflowHost);
    const { run } = await workflows.start(Greeting, { name: 'Ada' });
    const stageRunId = (await workflows.history(run)).stages[0]!.id;
    await expect(host.handleJob({ stageRunId })).resolves.toEqual({ ghost: false, status: 'COMPLETED' });
    await expect(host.handleJob({ stageRunId })).resolves.toMatchObject({ ghost: true, ghostReason: 'duplicate' });
    await expect(host.handleJob({ stageRunId: 'x' })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(host.handleJob({} as never)).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    await host.drain();
    await expect(host.processAvailable()).rejects.toBeInstanceOf(ShuttingDownError);
    await expect(host.handleJob({ stageRunId })).rejects.toBeInstanceOf(ShuttingDownError);
    await app.close();
  });
});
