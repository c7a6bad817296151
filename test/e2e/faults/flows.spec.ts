import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { WorkflowHost, WorkflowService, type WorkflowEvent } from 'nestjs-workflow-engine';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { timeLimitsByHand } from '../../support/time-limits.js';
import { until } from '../../support/until.js';
import { signal, startApp, withApp } from '../app.js';
import { AT_ONCE, flowOf, stageOf } from './scenes.js';

const LIMIT_MS = 301_000;

/** Takes nothing by the clock: what is found is found by what the engine itself says. */
const NO_TICKS = { worker: { pollInterval: '1h', concurrency: 50 }, wake: { every: false } } as const;

it('FAULT L7: ten branches, then two stages, a hundred times: each stage once, each completion once', async () => {
  const ran: string[] = [];
  const note = (ctx: any): unknown => ran.push(`${ctx.run.id} ${ctx.stage.key}`);
  const branches = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`b${at}`, stageOf(`b${at}`, note)]));
  const [Then, Last] = [stageOf('then', note), stageOf('last', note)];
  const Flow = flowOf('flow', [branches, Then, Last]);
  const providers = [...Object.values(branches), Then, Last, Flow];
  const database = await freshDatabase();
  await withApp({ database, providers, workflow: NO_TICKS }, async (app) => {
    const workflows = app.get(WorkflowService);
    const ended: WorkflowEvent[] = [];
    const all = signal();
    workflows.events().subscribe((event) => {
      if (event.type === 'run:completed' && ended.push(event) === 100) all.resolve();
    });
    const started = await workflows.startMany(
      Flow,
      Array.from({ length: 100 }, () => ({ input: null })),
    );
    await all.promise;
    await Promise.all(started.map(({ run }) => workflows.result(run)));
    expect(ran).toHaveLength(100 * 12);
    expect(new Set(ran).size).toBe(100 * 12);
    expect(new Set(ended.map(({ run }) => run.id)).size).toBe(100);
    const pool = database.openPool({ max: 1 });
    expect(await brokenInvariants(pool)).toEqual({});
    await pool.end();
  });
  // Closing delivers what is left: no second completion was behind.
});

it('FAULT L8, FAULT L10: 2,000 runs that were queued first all end, by no tick and no poll', async () => {
  const all = signal();
  let begunBodies = 0;
  const Work = stageOf('work', (ctx) => {
    if (++begunBodies === 2_000) all.resolve();
    return ctx.input;
  });
  const Flow = flowOf('flow', [Work]);
  const database = await freshDatabase();
  const providers = [Work, Flow];
  const web = await startApp({ database, providers, workflow: { worker: false, ...{ wake: { every: false } } } });
  const started = await web.get(WorkflowService).startMany(
    Flow,
    Array.from({ length: 2_000 }, (_, n) => ({ input: n })),
  );
  const begun = performance.now();
  await withApp({ database, providers, workflow: NO_TICKS }, async (app) => {
    await all.promise;
    const workflows = app.get(WorkflowService);
    await Promise.all(started.map(({ run }) => workflows.result(run)));
    const perSecond = Math.round(2_000 / ((performance.now() - begun) / 1_000));
    console.info(`a backlog of 2,000 drains at ${perSecond} runs a second, boot included`);
    expect(await workflows.asOperator().count('flow')).toMatchObject({ RUNNING: 0, PENDING: 0, FAILED: 0 });
  });
  const dataSource = web.get(DataSource);
  await expect(dataSource.query('SELECT count(*)::int AS left FROM workflow_jobs')).resolves.toEqual([{ left: 0 }]);
  await web.close();
});

it('FAULT L6: due runs of a version that is gone wait, told once, and the rest runs', async () => {
  const Work = stageOf('work', () => 'done');
  const database = await freshDatabase();
  const [V1, V2] = [1, 2].map((version) => flowOf('flow', [Work], { version }));
  const before = await startApp({ database, providers: [Work, V1], workflow: { worker: false } });
  const old = await before.get(WorkflowService).startMany(
    V1,
    Array.from({ length: 150 }, () => ({ input: null })),
  );
  await before.close();

  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const workflow = { worker: { concurrency: 5 } };
  await withApp({ database, providers: [Work, V2], workflow }, async (app) => {
    const workflows = app.get(WorkflowService);
    await expect(workflows.startAndWait(V2, null)).resolves.toBe('done');
    await expect(workflows.startAndWait(V2, null)).resolves.toBe('done');
    await expect(workflows.history(old[0]!.run)).resolves.toMatchObject({
      run: { status: 'RUNNING', version: 1 },
      stages: [{ status: 'PENDING', attempt: 0, losses: 0 }],
    });
  });
  expect(warn.mock.calls.filter(([text]) => String(text).includes('flow@1'))).toHaveLength(1);
  warn.mockRestore();
  await withApp({ database, providers: [Work, V1, V2], workflow }, async (app) => {
    const host = app.get(WorkflowService);
    await app.get(DataSource).query('UPDATE workflow_jobs SET run_at = now() WHERE state <> 1');
    await expect(Promise.all(old.map(({ run }) => host.result(run)))).resolves.toHaveLength(150);
  });
});

describe('a parallel group', () => {
  const gate = { opened: signal(), entered: signal(), failures: 0 };
  const Fails = stageOf('fails', () => {
    if (gate.failures-- > 0) throw new Error('not this time');
    return 'a';
  });
  const Other = stageOf('other', async () => {
    gate.entered.resolve();
    await gate.opened.promise;
    return 'b';
  });
  const Flow = flowOf('flow', [{ fails: Fails, other: Other }], { retry: AT_ONCE });
  const providers = [Fails, Other, Flow];

  beforeEach(() => Object.assign(gate, { opened: signal(), entered: signal(), failures: 1 }));

  it('FAULT C20: a branch with tries left fails nothing, and the old job of a branch that is done runs nothing', async () => {
    await withApp({ providers, workflow: { worker: false } }, async (app) => {
      const [workflows, host] = [app.get(WorkflowService), app.get(WorkflowHost)];
      gate.opened.resolve();
      const { run } = await workflows.start(Flow, null);
      await expect(host.processAvailable({ max: 2 })).resolves.toMatchObject({ processed: 2 });
      const { stages } = await workflows.history(run);
      const idOf = (key: string): string => stages.find((stage) => stage.key === key)!.id;
      await expect(host.handleJob({ stageRunId: idOf('other') })).resolves.toMatchObject({ ghostReason: 'duplicate' });
      await expect(workflows.get(run)).resolves.toMatchObject({ status: 'RUNNING' });
      await expect(host.handleJob({ stageRunId: idOf('fails') })).resolves.toMatchObject({ ghost: false });
      await expect(workflows.result(run)).resolves.toEqual({ fails: 'a', other: 'b' });
      const after = (await workflows.history(run)).stages.map(({ key, attempt }) => [key, attempt]);
      expect(Object.fromEntries(after)).toEqual({ fails: 2, other: 1 });
    });
  });

  it('FAULT C20: a branch that fails for good fails the run at once', async () => {
    gate.failures = 3;
    await withApp({ providers, workflow: NO_TICKS }, async (app) => {
      const workflows = app.get(WorkflowService);
      const { run } = await workflows.start(Flow, null);
      await gate.entered.promise;
      // The other branch is still at it.
      await expect(workflows.result(run)).rejects.toMatchObject({ failureCode: 'EXCEPTION', node: 'fails' });
      gate.opened.resolve();
    });
  });

  it('FAULT K11: the late end of a branch in another process, which heard of nothing, changes no run that has failed', async () => {
    gate.failures = 3;
    const Deaf = stageOf('other', () => (gate.entered.resolve(), gate.opened.promise.then(() => 'b')), {
      queue: 'deaf',
    });
    const Split = flowOf('flow', [{ fails: Fails, other: Deaf }], { retry: AT_ONCE });
    const database = await freshDatabase();
    const queues = (queue: string): object => ({ queues: [queue], notify: false });
    const split = { database, providers: [Fails, Deaf, Split] };
    const deaf = await startApp({ ...split, workflow: { worker: { ...queues('deaf'), pollInterval: 50 } } });
    await withApp({ ...split, workflow: { ...NO_TICKS, worker: queues('default') } }, async (app) => {
      const workflows = app.get(WorkflowService);
      const { run } = await workflows.start(Split, null);
      await gate.entered.promise;
      await expect(workflows.result(run)).rejects.toMatchObject({ failureCode: 'EXCEPTION', node: 'fails' });
      gate.opened.resolve();
      // Its last outcome is written when it has closed.
      await deaf.close();
      const { run: after, stages } = await workflows.history(run);
      expect([after.status, ...stages.map(({ key, status }) => `${key} ${status}`).sort()]).toEqual([
        'FAILED',
        'fails FAILED',
        'other CANCELLED',
      ]);
      const pool = database.openPool({ max: 1 });
      expect(await brokenInvariants(pool)).toEqual({});
      await pool.end();
    });
  });
});

describe('a cancel hook', () => {
  it('FAULT F5: undoes in peace: its own signal stays quiet, and what it awaits is awaited', async () => {
    const [entered, mayEnd, undone] = [signal(), signal(), signal<boolean[]>()];
    const Work = stageOf(
      'work',
      (ctx) =>
        new Promise((_, reject) => {
          entered.resolve();
          ctx.abortSignal.addEventListener('abort', () => reject(ctx.abortSignal.reason));
        }),
      {
        cancel: async (ctx) => {
          const before = ctx.abortSignal.aborted;
          await mayEnd.promise;
          undone.resolve([before, ctx.abortSignal.aborted]);
        },
      },
    );
    const Flow = flowOf('flow', [Work]);
    // Heartbeats go on beneath the hook, and tell of a cancelled run: that is none of its business.
    const lease = { heartbeatInterval: 20, staleThreshold: '1m' } as const;
    await withApp({ providers: [Work, Flow], workflow: { lease } }, async (app) => {
      const workflows = app.get(WorkflowService);
      const dataSource = app.get(DataSource);
      const { run } = await workflows.start(Flow, null);
      await entered.promise;
      await workflows.cancel(run);
      const beats = 'SELECT count(*)::int AS n FROM workflow_jobs WHERE kind = 1 AND locked_at > started_at';
      await until(async () => (await dataSource.query(beats))[0].n === 1);
      mayEnd.resolve();
      await expect(undone.promise).resolves.toEqual([false, false]);
      await until(async () => (await dataSource.query('SELECT count(*)::int AS n FROM workflow_jobs'))[0].n === 0);
      await expect(workflows.get(run)).resolves.toMatchObject({ status: 'CANCELLED' });
    });
  });

  it('FAULT F5: is not called for a stage that never began, nor is a time limit after the body ended', async () => {
    const calls: string[] = [];
    const limits = timeLimitsByHand(LIMIT_MS);
    const open: number[] = [];
    const quick = (): unknown => open.push(limits.open);
    const Quick = stageOf('quick', quick, { timeout: LIMIT_MS, cancel: () => void calls.push('cancel') });
    const Never = stageOf('never', () => 'done', { cancel: () => void calls.push('cancel') });
    const [Limited, Later] = [flowOf('limited', [Quick]), flowOf('later', [Never])];
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await withApp({ providers: [Quick, Never, Limited, Later] }, async (app) => {
      const workflows = app.get(WorkflowService);
      const { run } = await workflows.start(Later, null, { delay: '1h' });
      await workflows.cancel(run);
      await expect(workflows.startAndWait(Limited, null)).resolves.toBe(1);
      expect(calls).toEqual([]);
      // It was there while the body ran, and ended with it.
      expect([open, limits.open]).toEqual([[1], 0]);
    });
    expect(warn).not.toHaveBeenCalled();
    jest.restoreAllMocks();
  });
});
