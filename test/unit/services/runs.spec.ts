import { asTeam, definition, serviceKit } from './service-kit.js';
import type { TransactionManager } from '../../../lib/interfaces/index.js';

const input = { name: 'x' };

describe('list', () => {
  it('FAULT K19: pages newest first, without payloads and error texts', async () => {
    const { service } = serviceKit();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.unshift((await asTeam('a', () => service.start('greet', input))).run.id);
    const first = await asTeam('a', () => service.list({ limit: 2 }));
    const second = await asTeam('a', () => service.list({ limit: 2, cursor: first.cursor }));
    const third = await asTeam('a', () => service.list({ limit: 2, cursor: second.cursor }));
    expect([first, second, third].flatMap(({ runs }) => runs.map(({ id }) => id))).toEqual(ids);
    expect(third.cursor).toBeNull();
    expect(Object.keys(first.runs[0]!)).not.toEqual(expect.arrayContaining(['input', 'output', 'failure']));
  });

  it('OWNER-5: filters by definition and status', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.cancel(run));
    expect((await asTeam('a', () => service.list({ status: 'CANCELLED' }))).runs).toMatchObject([{ id: run.id }]);
    expect((await asTeam('a', () => service.list({ definition: 'other' }))).runs).toEqual([]);
    expect(await asTeam('a', () => service.count('greet'))).toEqual({
      PENDING: 0,
      RUNNING: 1,
      COMPLETED: 0,
      FAILED: 0,
      CANCELLED: 1,
    });
  });

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 501 }, 'limit'],
    [{ cursor: 'x' }, 'cursor'],
    [{ status: 'DONE' as never }, 'status'],
    [{ subject: { type: 'order' } as never }, 'subject'],
    [{ tenant: 'a' } as never, 'tenant'],
  ])('FAULT A18: %p is refused', async (options, path) => {
    const { service } = serviceKit();
    await expect(asTeam('a', () => service.list(options))).rejects.toMatchObject({ problems: [{ path }] });
  });

  it.each(['definition', 'subject'])(
    'FAULT A18: a %s that is named and undefined is refused, not dropped',
    async (name) => {
      const { service } = serviceKit();
      await expect(asTeam('a', () => service.list({ [name]: undefined }))).rejects.toMatchObject({
        code: 'UNDEFINED_ID',
      });
    },
  );
});

describe('cancel', () => {
  it('CANCEL-1: ends run and open stages in one go and tells the workers', async () => {
    const { service, hints } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.cancel(run, 'asked by user'));
    const { run: view, stages } = await asTeam('a', () => service.history(run));
    expect(view).toMatchObject({ status: 'CANCELLED', cancelReason: 'asked by user' });
    expect(stages).toMatchObject([{ status: 'CANCELLED' }]);
    expect(hints.at(-1)).toMatchObject({ cancelled: [run.id] });
  });

  it('CANCEL-1: says how the run ended when it ended first', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.cancel(run));
    await expect(asTeam('a', () => service.cancel(run))).rejects.toMatchObject({
      code: 'RUN_NOT_CANCELLABLE',
      params: { status: 'CANCELLED' },
    });
  });

  it('CANCEL-1: ends a run whose definition this build does not serve', async () => {
    const { service, store } = serviceKit();
    const other = serviceKit({ definitions: [] });
    const { run } = await asTeam('a', () => service.start('greet', input));
    other.store.changeRun = store.changeRun.bind(store);
    await asTeam('a', () => other.service.cancel(run));
    await expect(asTeam('a', () => service.get(run))).resolves.toMatchObject({ status: 'CANCELLED' });
  });

  it('CANCEL-4: terminate cancels too', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.terminate(run, 'now'));
    await expect(asTeam('a', () => service.get(run))).resolves.toMatchObject({
      status: 'CANCELLED',
      cancelReason: 'now',
    });
  });

  it('RUN-4: the result of a cancelled run is its cancellation', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.cancel(run, 'why not'));
    await expect(asTeam('a', () => service.result(run))).rejects.toMatchObject({
      code: 'RUN_CANCELLED',
      params: { reason: 'why not' },
    });
  });
});

describe('retry', () => {
  it('RETRY-5: refuses a run that did not fail, saying why', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await expect(asTeam('a', () => service.retry(run))).rejects.toMatchObject({
      code: 'RUN_NOT_RETRYABLE',
      params: { status: 'RUNNING' },
    });
  });

  it('FAULT F4: refuses a cancelled run', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    await asTeam('a', () => service.cancel(run));
    await expect(asTeam('a', () => service.retry(run))).rejects.toThrow(/cancelled/);
  });
});

describe('failures', () => {
  const definitions = [definition('greet', { maxStageRuns: 0 })];

  it('FAIL-4: are told in the default locale, with code and parameters', async () => {
    const { service } = serviceKit({ definitions });
    const { run } = await asTeam('a', () => service.start('greet', input));
    const { failure } = await asTeam('a', () => service.get(run));
    expect(failure).toMatchObject({
      code: 'STEP_LIMIT_EXCEEDED',
      message: expect.stringContaining('maxStageRuns'),
      params: { value: 0 },
    });
  });

  it("FAIL-4: are told in the host's texts where it has some", async () => {
    const { service } = serviceKit({ definitions, messages: { STEP_LIMIT_EXCEEDED: 'höchstens {value} Schritte' } });
    const { run } = await asTeam('a', () => service.start('greet', input));
    await expect(asTeam('a', () => service.result(run))).rejects.toMatchObject({
      failureMessage: 'höchstens 0 Schritte',
    });
    expect((await asTeam('a', () => service.history(run))).run.failure?.message).toBe('höchstens 0 Schritte');
  });
});

describe('transactions', () => {
  const manager = (isolation: string, active = true): TransactionManager => ({
    queryRunner: { isTransactionActive: active, isReleased: false },
    query: async () => [{ transaction_isolation: isolation }],
  });
  const start = (options: object, kit = serviceKit()) => asTeam('a', () => kit.service.start('greet', input, options));

  it.each([
    ['the root manager', { query: async () => [] }],
    ['a manager whose transaction is over', manager('read committed', false)],
  ])('RUN-1: %s is refused', async (_case, given) => {
    await expect(start({ manager: given })).rejects.toMatchObject({ code: 'ROOT_MANAGER' });
  });

  it('RUN-1: what is no manager is refused', async () => {
    await expect(start({ manager: {} })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it.each(['repeatable read', 'serializable'])(
    'RUN-1: %s is refused where a wake-up could be lost',
    async (isolation) => {
      const kit = serviceKit();
      const { run } = await start({}, kit);
      const given = manager(isolation);
      await expect(start({ manager: given, idempotencyKey: 'k' }, kit)).rejects.toMatchObject({
        code: 'ISOLATION_LEVEL',
      });
      await expect(asTeam('a', () => kit.service.cancel(run, 'x', { manager: given }))).rejects.toMatchObject({
        code: 'ISOLATION_LEVEL',
      });
      await expect(asTeam('a', () => kit.service.retry(run, { manager: given }))).rejects.toMatchObject({
        code: 'ISOLATION_LEVEL',
      });
    },
  );

  it('RUN-1: an ambient transaction is joined, and hints go with its commit', async () => {
    const ambient = manager('read committed');
    const kit = serviceKit({ hosts: [{ isTransactionActive: () => true, tx: ambient }] });
    kit.store.createRuns = async (runs, transaction) => {
      expect(transaction).toBeDefined();
      return runs.map(({ id }) => ({ runId: id, created: true, dueInMs: 0, inputDigest: null }));
    };
    await start({}, kit);
    expect(kit.hints).toEqual([]);
    expect(kit.joined).toMatchObject([{ hint: { work: true } }]);
  });

  it.each([
    ['is over', { isTransactionActive: () => false, tx: manager('read committed') }],
    ['is of another library', { isTransactionActive: () => true, tx: { raw: () => undefined } }],
  ])('RUN-1: an ambient transaction that %s is not joined', async (_case, host) => {
    const kit = serviceKit({ hosts: [host] });
    await start({}, kit);
    expect(kit.hints).toEqual([{ work: true }]);
  });

  it('RUN-4: startAndWait refuses to wait inside a transaction', async () => {
    const kit = serviceKit({ hosts: [{ isTransactionActive: () => true, tx: manager('read committed') }] });
    await expect(asTeam('a', () => kit.service.startAndWait('greet', input))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
  });
});
