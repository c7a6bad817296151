import type { TestingModule } from '@nestjs/testing';
import { ResultTimeoutError, RunFailedError, WorkflowService } from 'nestjs-workflow-engine';
import { filter, firstValueFrom } from 'rxjs';
import { startApp } from './app.js';
import { Greeting, Listener } from './greeting.js';

describe('a Nest app on PostgreSQL', () => {
  let app: TestingModule;
  let workflows: WorkflowService;

  beforeAll(async () => {
    app = await startApp();
    workflows = app.get(WorkflowService);
  });
  afterAll(() => app.close());

  const told = (type: string, runId: string): Promise<unknown> =>
    firstValueFrom(workflows.events().pipe(filter((event) => event.type === type && event.run.id === runId)));

  it('RUN-3: runs a pipeline to the output of its last group', async () => {
    await expect(workflows.startAndWait(Greeting, { name: 'Ada' })).resolves.toEqual({ length: 9, loud: 'HELLO ADA?' });
  });

  it('RUN-1: what is started by id, and awaited by id, is the same', async () => {
    const { run, created } = await workflows.start('greeting', { name: 'Bob' }, { idempotencyKey: 'bob' });
    expect(created).toBe(true);
    await expect(workflows.result(run.id)).resolves.toEqual({ length: 9, loud: 'HELLO BOB?' });
    await expect(workflows.start(Greeting, { name: 'Bob' }, { idempotencyKey: 'bob' })).resolves.toEqual({
      run,
      created: false,
    });
  });

  it('IDEM-1: twenty parallel starts with one key make one run', async () => {
    const starts = Array.from({ length: 20 }, () =>
      workflows.start(Greeting, { name: 'Cy' }, { idempotencyKey: 'cy' }),
    );
    const results = await Promise.all(starts);
    expect(new Set(results.map(({ run }) => run.id)).size).toBe(1);
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    await workflows.result(results[0]!.run);
  });

  it('RUN-1: startMany starts them all', async () => {
    const results = await workflows.startMany(
      Greeting,
      ['Di', 'Eve', 'Fay'].map((name) => ({ input: { name } })),
    );
    const outputs = await Promise.all(results.map(({ run }) => workflows.result(run)));
    expect(outputs.map(({ loud }) => loud)).toEqual(['HELLO DI?', 'HELLO EVE?', 'HELLO FAY?']);
  });

  it('FAIL-2: the history shows stages in order, with every failed attempt', async () => {
    const { run } = await workflows.start(Greeting, { name: 'nobody' }, { delay: '300ms' });
    await told('stage:retrying', run.id);
    const { stages } = await workflows.history(run);
    expect(stages).toMatchObject([{ key: 'salute', status: 'PENDING', attempt: 1, error: { code: 'EXCEPTION' } }]);
    expect(stages[0]!.failedAttempts).toMatchObject([
      { attempt: 1, code: 'EXCEPTION', message: expect.stringContaining('nobody to greet') },
    ]);
    await workflows.cancel(run);
  });

  it('CANCEL-1: a cancelled run stays cancelled, and its result says why', async () => {
    const { run } = await workflows.start(Greeting, { name: 'Gus' }, { delay: '1h' });
    const waiting = workflows.result(run);
    await workflows.cancel(run, 'not today');
    await expect(waiting).rejects.toMatchObject({ code: 'RUN_CANCELLED', params: { reason: 'not today' } });
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'CANCELLED', cancelReason: 'not today' });
    await expect(workflows.cancel(run)).rejects.toMatchObject({ code: 'RUN_NOT_CANCELLABLE' });
  });

  it('RUN-4: waiting ends after its timeout, or with its signal, and the run goes on', async () => {
    const { run } = await workflows.start(Greeting, { name: 'Hal' }, { delay: '1h' });
    await expect(workflows.result(run, { timeout: 10 })).rejects.toBeInstanceOf(ResultTimeoutError);
    const controller = new AbortController();
    const waiting = workflows.result(run, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(workflows.get(run)).resolves.toMatchObject({ status: 'PENDING' });
    await workflows.cancel(run);
  });

  it('EVT-1: handlers hear of a run in order, in the context of its owner', async () => {
    const completed = firstValueFrom(
      workflows
        .asOperator()
        .events()
        .pipe(filter(({ type, owner }) => type === 'run:completed' && owner === 'team-a')),
    );
    const { run } = await workflows.start(Greeting, { name: 'Ida' }, { owner: 'team-a', actor: { id: 'u1' } });
    await completed;
    const { heard, owners } = app.get(Listener);
    const own = heard.map((event, at) => ({ event, owner: owners[at] })).filter(({ event }) => event.run.id === run.id);
    expect(own.map(({ event }) => event.type)).toEqual(['run:started', 'run:completed']);
    expect(own.map(({ owner }) => owner)).toEqual(['team-a', 'team-a']);
    expect(own[0]!.event).toMatchObject({
      owner: 'team-a',
      actor: { id: 'u1' },
      runAs: null,
      run: { definition: 'greeting', version: 1 },
    });
  });

  it("OWNER-5: another owner's run is not found", async () => {
    const { run } = await workflows.start(Greeting, { name: 'Jo' }, { owner: 'team-b' });
    await expect(workflows.get(run)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(workflows.cancel(run)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await workflows.asOperator().result(run);
  });
});

describe('a delayed start', () => {
  it('WAKE-6: begins in time without a tick of the wake pass', async () => {
    const app = await startApp({ workflow: { wake: { every: false } } });
    const workflows = app.get(WorkflowService);
    await expect(workflows.startAndWait(Greeting, { name: 'Ada' }, { delay: 50 })).resolves.toMatchObject({
      length: 9,
    });
    await app.close();
  });
});

describe('a failed run', () => {
  it('RETRY-5: is retried by hand from the stage that failed', async () => {
    const app = await startApp({ workflow: { retry: { maxAttemptsCap: 1 } } });
    const workflows = app.get(WorkflowService);
    const { run } = await workflows.start(Greeting, { name: 'nobody' });
    const failure = await workflows.result(run).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RunFailedError);
    expect(failure).toMatchObject({ failureCode: 'EXCEPTION', node: 'salute', params: { workflow: 'greeting' } });
    await workflows.retry(run);
    await expect(workflows.result(run)).rejects.toMatchObject({ failureCode: 'EXCEPTION' });
    const { stages } = await workflows.history(run);
    expect(stages[0]!.failedAttempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    await app.close();
  });
});
