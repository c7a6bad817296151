import { setHostClock } from '../../support/host-clock.js';
import { asTeam, cls, definition, serviceKit } from './service-kit.js';

const NOBODYS = '018f0000-0000-7000-8000-000000000000';

describe('start', () => {
  it('RUN-1: writes the run with its first stage run and tells the workers', async () => {
    const { service, hints } = serviceKit();
    const { run, created } = await asTeam('a', () => service.start('greet', { name: 'Ada' }));
    const history = await asTeam('a', () => service.history(run));
    expect(created).toBe(true);
    expect(history.run).toMatchObject({ status: 'RUNNING', owner: 'a', input: { name: 'Ada' }, definition: 'greet' });
    expect(history.stages).toMatchObject([{ key: 'hello', status: 'PENDING', attempt: 0 }]);
    expect(hints).toEqual([{ work: true }]);
  });

  it('DEF-5: a bad input is refused with the issues of the schema, and nothing is written', async () => {
    const { service } = serviceKit();
    const bad = asTeam('a', () => service.start('greet', { name: 7 }));
    await expect(bad).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['name'] }] });
    expect((await service.asOperator().list()).runs).toEqual([]);
  });

  it('DEF-6: an input that JSON cannot hold is refused, naming the path', async () => {
    const { service } = serviceKit();
    const bad = asTeam('a', () => service.start('greet', { name: 'x', at: new Date(0) }));
    await expect(bad).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: '$.at' }] });
  });

  it('FAULT A20: the input is stored raw, not as the schema parsed it', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', { name: 'Ada', extra: 1 }));
    expect((await asTeam('a', () => service.get(run))).input).toEqual({ name: 'Ada', extra: 1 });
  });

  it('LIMIT-6: an input over its limit is refused, naming limit and value', async () => {
    const { service } = serviceKit({ maxInputBytes: 100 });
    await expect(asTeam('a', () => service.start('greet', { name: 'x'.repeat(100) }))).rejects.toThrow(
      /limits\.maxInputBytes = 100/,
    );
  });

  it('DEF-3: an unknown id is refused with a suggestion', async () => {
    const { service } = serviceKit();
    await expect(asTeam('a', () => service.start('great', {}))).rejects.toMatchObject({
      code: 'UNKNOWN_WORKFLOW',
      params: { suggestion: 'greet' },
    });
  });

  it('FAULT A18: a start whose owner comes out undefined writes nothing', async () => {
    const { service } = serviceKit();
    await expect(service.start('greet', { name: 'x' })).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    await expect(asTeam('a', () => service.start('greet', { name: 'x' }, { owner: undefined }))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
    expect((await service.asOperator().list()).runs).toEqual([]);
  });

  it('AUTH-3: a workflow on behalf of its starter is refused without one', async () => {
    const { service } = serviceKit({ definitions: [definition('greet', { actor: 'on_behalf_of' })] });
    const without = asTeam('a', () => service.start('greet', { name: 'x' }));
    await expect(without).rejects.toMatchObject({ code: 'MISSING_TRIGGERING_USER' });
    const { run } = await asTeam('a', () => service.start('greet', { name: 'x' }, { actor: { id: 'u1' } }));
    expect((await asTeam('a', () => service.get(run))).actor).toEqual({ id: 'u1' });
  });

  it.each([
    [{ delay: -1 }, 'delay'],
    [{ delay: '5 parsecs' }, 'delay'],
    [{ delay: NaN }, 'delay'],
    [{ delay: new Date() as never }, 'delay'],
    [{ delay: '1m', startAt: new Date() }, 'delay'],
    [{ startAt: new Date(NaN) }, 'startAt'],
    [{ startAt: 5_000 as never }, 'startAt'],
    [{ priority: 0.5 }, 'priority'],
    [{ priority: 2 ** 31 }, 'priority'],
    [{ queue: '' }, 'queue'],
    [{ idempotencyKey: '' }, 'idempotencyKey'],
    [{ subject: undefined }, 'subject'],
    [{ subject: null as never }, 'subject'],
    [{ subject: 'order' as never }, 'subject'],
    [{ subject: { type: 'order' } as never }, 'subject'],
    [{ subject: { type: 'order', id: undefined } as never }, 'subject'],
    [{ subject: { type: 'order', id: 7 } as never }, 'subject'],
    [{ subject: { type: 'order', id: '' } }, 'subject'],
    [{ subject: { type: ' ', id: '7' } }, 'subject'],
    [{ subject: { type: 'order', id: 'a\0b' } }, 'subject'],
    [{ subject: { type: 'order', id: 'x'.repeat(501) } }, 'subject'],
    [{ idempotancyKey: 'x' } as never, 'idempotancyKey'],
  ])('FAULT B16, A18: %p is refused at %s', async (options, path) => {
    const { service } = serviceKit();
    const bad = asTeam('a', () => service.start('greet', { name: 'x' }, options));
    await expect(bad).rejects.toMatchObject({ code: 'INVALID_OPTIONS', problems: [{ path }] });
  });

  it('OWNER-3: what a run is about is stored with it, nothing more of it, and found again', async () => {
    const { service } = serviceKit();
    const subject = { type: 'order', id: '7', secret: 'x' };
    const [started] = await asTeam('a', () =>
      service.startMany('greet', [{ input: { name: 'x' }, subject }, { input: { name: 'x' } }]),
    );
    const { run } = started!;
    expect((await asTeam('a', () => service.get(run))).subject).toEqual({ type: 'order', id: '7' });
    const { runs } = await asTeam('a', () => service.list({ subject: { type: 'order', id: '7' } }));
    expect(runs).toMatchObject([{ id: run.id, subject: { type: 'order', id: '7' } }]);
    expect((await asTeam('b', () => service.list({ subject: { type: 'order', id: '7' } }))).runs).toEqual([]);
  });

  it('RUN-6: a delayed run is PENDING, one whose time is past begins at once', async () => {
    const { service, clock } = serviceKit();
    const statusOf = (options: object): Promise<string> =>
      asTeam('a', async () => (await service.get((await service.start('greet', { name: 'x' }, options)).run)).status);
    await expect(statusOf({ delay: '5m' })).resolves.toBe('PENDING');
    await expect(statusOf({ startAt: new Date(clock.now() + 1_000) })).resolves.toBe('PENDING');
    await expect(statusOf({ startAt: new Date(clock.now() - 1_000) })).resolves.toBe('RUNNING');
  });
});

describe('hosts whose clocks are wrong', () => {
  const MINUTE = 60_000;
  afterEach(() => void jest.useRealTimers());

  it.each([10, -10])('FAULT B3: one %i minutes off starts at an instant as the store reads it', async (minutes) => {
    const { service, clock, due, hints } = serviceKit({ definitions: [definition('greet', { deadlineMs: MINUTE })] });
    setHostClock(clock.now() + minutes * MINUTE);
    const start = (ms: number) =>
      asTeam('a', () => service.start('greet', { name: 'x' }, { startAt: new Date(clock.now() + ms) }));
    const statusOf = async ({ run }: { run: { id: string } }): Promise<string> =>
      (await service.asOperator().get(run)).status;

    await expect(statusOf(await start(-5 * MINUTE))).resolves.toBe('RUNNING');
    expect([hints, due]).toEqual([[{ work: true }], []]);
    const later = await start(5 * MINUTE);
    await expect(statusOf(later)).resolves.toBe('PENDING');
    expect([hints.at(-1), due]).toEqual([{ work: false }, [5 * MINUTE]]);
  });

  it.each([10, -10])('FAULT B3: at %i minutes off a deadline counts from the start all the same', async (minutes) => {
    const { service, store, clock } = serviceKit({ definitions: [definition('greet', { deadlineMs: MINUTE })] });
    setHostClock(clock.now() + minutes * MINUTE);
    const startAt = new Date(clock.now() + 5 * MINUTE);
    const { run } = await asTeam('a', () => service.start('greet', { name: 'x' }, { startAt }));
    clock.advance(6 * MINUTE - 1);
    expect(await store.findOverdue(10, 0)).toEqual([]);
    clock.advance(2);
    expect(await store.findOverdue(10, 0)).toEqual([{ runId: run.id }]);
  });
});

describe('delays', () => {
  it('WAKE-6: this process is told when a delayed start becomes due, and no worker is woken for it', async () => {
    const { service, clock, due, hints } = serviceKit();
    await asTeam('a', () => service.start('greet', { name: 'x' }, { startAt: new Date(clock.now() + 500) }));
    const starts = [{ delay: 9_000 }, { delay: 7_000 }].map((options) => ({ input: { name: 'x' }, ...options }));
    await asTeam('a', () => service.startMany('greet', starts));
    expect(due).toEqual([500, 7_000]);
    expect(hints.every(({ work }) => !work)).toBe(true);
  });
});

describe('idempotency keys', () => {
  it('IDEM-1: the same key returns the first run, created false, and wakes nobody', async () => {
    const { service, hints } = serviceKit();
    const start = () => asTeam('a', () => service.start('greet', { name: 'x' }, { idempotencyKey: 'k' }));
    const first = await start();
    const second = await start();
    expect(second).toEqual({ run: first.run, created: false });
    expect(hints).toHaveLength(1);
  });

  it('FAULT A15: another owner, or another definition, has keys of its own', async () => {
    const { service } = serviceKit({ definitions: [definition('greet'), definition('part')] });
    const options = { idempotencyKey: 'k' };
    const results = [
      await asTeam('a', () => service.start('greet', { name: 'x' }, options)),
      await asTeam('b', () => service.start('greet', { name: 'x' }, options)),
      await asTeam(null, () => service.start('greet', { name: 'x' }, options)),
      await asTeam('a', () => service.start('part', { name: 'x' }, options)),
    ];
    expect(results.map(({ created }) => created)).toEqual([true, true, true, true]);
  });

  it('IDEM-3: with strict keys another input is a conflict, another order of keys is not', async () => {
    const { service } = serviceKit({ strict: true });
    const start = (input: object) => asTeam('a', () => service.start('greet', input, { idempotencyKey: 'k' }));
    const { run } = await start({ name: 'x', b: 1 });
    await expect(start({ b: 1, name: 'x' })).resolves.toEqual({ run, created: false });
    await expect(start({ name: 'y' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      params: { key: 'k', runId: run.id },
    });
  });

  it('IDEM-3: without strict keys another input gets the first run', async () => {
    const { service } = serviceKit();
    const start = (name: string) => asTeam('a', () => service.start('greet', { name }, { idempotencyKey: 'k' }));
    const { run } = await start('x');
    await expect(start('y')).resolves.toEqual({ run, created: false });
  });
});

describe('startMany', () => {
  it('IDEM-1: answers stand in order, and a key that stands twice makes one run', async () => {
    const { service } = serviceKit();
    const starts = ['a', 'b', 'a'].map((key) => ({ input: { name: key }, idempotencyKey: key }));
    const results = await asTeam('t', () => service.startMany('greet', starts));
    expect(results.map(({ created }) => created)).toEqual([true, true, false]);
    expect(results[2]!.run.id).toBe(results[0]!.run.id);
    expect(results[1]!.run.id).not.toBe(results[0]!.run.id);
  });

  it('RUN-1: writes groups of 500, a key of an earlier group included', async () => {
    const { service, store } = serviceKit();
    const sizes: number[] = [];
    const createRuns = store.createRuns.bind(store);
    store.createRuns = (runs, transaction) => (sizes.push(runs.length), createRuns(runs, transaction));
    const starts = Array.from({ length: 1_001 }, (_, at) => ({
      input: { name: 'x' },
      idempotencyKey: `${at % 1_000}`,
    }));
    const results = await asTeam('t', () => service.startMany('greet', starts));
    expect(sizes).toEqual([500, 500]);
    expect(results.at(-1)).toEqual({ run: results[0]!.run, created: false });
  });

  it('DEF-5: one bad input of many writes none, and says which', async () => {
    const { service } = serviceKit();
    const starts = [{ input: { name: 'x' } }, { input: { name: 'y' }, priority: 0.5 }];
    await expect(asTeam('t', () => service.startMany('greet', starts))).rejects.toThrow(/startMany \[1\]/);
    expect((await service.asOperator().list()).runs).toEqual([]);
  });

  it('RUN-1: of none starts none', async () => {
    const { service } = serviceKit();
    await expect(asTeam('t', () => service.startMany('greet', []))).resolves.toEqual([]);
  });
});

describe('scope', () => {
  it('OWNER-5: runs of another owner, and of nobody, read as missing', async () => {
    const { service } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', { name: 'x' }));
    await expect(asTeam('b', () => service.get(run))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(asTeam(null, () => service.cancel(run))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect((await asTeam('b', () => service.list())).runs).toEqual([]);
    expect((await asTeam('a', () => service.list())).runs).toHaveLength(1);
    await expect(service.asOperator().get(run)).resolves.toMatchObject({ id: run.id, owner: 'a' });
  });

  it.each(['get', 'history', 'cancel', 'terminate', 'retry', 'result'] as const)(
    'FAULT A18: %s refuses what is no run id',
    async (method) => {
      const { service } = serviceKit();
      const call = (id: unknown): Promise<unknown> =>
        asTeam('a', () => service[method](id as string) as Promise<unknown>);
      await expect(call(undefined)).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
      await expect(call(null)).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
      await expect(call({})).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
      await expect(call('')).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
      await expect(call('42')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
      await expect(call(42)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    },
  );

  it.each(['get', 'history', 'cancel', 'list', 'count'] as const)(
    'FAULT A18: %s without an owner in the context is refused',
    async (method) => {
      const { service } = serviceKit();
      const id = method === 'list' || method === 'count' ? undefined : NOBODYS;
      await expect(service[method](id as never)).rejects.toMatchObject({
        code: 'UNDEFINED_ID',
        params: { what: 'owner' },
      });
      await expect(cls.run(() => service[method](id as never))).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    },
  );
});
