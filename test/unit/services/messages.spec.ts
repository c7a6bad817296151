import { eventWait, signalWait, suspending } from '../../../lib/testing/conformance/step-builders.js';
import { openTransaction } from './open-transaction.js';
import { asTeam, serviceKit } from './service-kit.js';
import { claimOne } from './three-stages.js';

const NOBODYS = '018f0000-0000-7000-8000-000000000000';
const start = (kit: ReturnType<typeof serviceKit>, team: string | null = 'a') =>
  asTeam(team, async () => (await kit.service.start('greet', { name: 'x' })).run);

describe('touch', () => {
  const subject = { type: 'order', id: '7' };

  it('WAIT-1: touches within the owner of the caller, or the one that is given, and tells nobody of nothing', async () => {
    const kit = serviceKit();
    const touched = jest.spyOn(kit.store, 'touch');
    expect(await asTeam('a', () => kit.service.touch(subject))).toEqual({ polls: 0 });
    await asTeam('a', () => kit.service.touch(subject, { owner: null }));
    expect(touched.mock.calls.map(([, owner]) => owner)).toEqual(['a', null]);
    expect(kit.hints).toEqual([]);
  });

  it('WAIT-1, RUN-1: tells workers of polls that go on, at once or with the transaction', async () => {
    const kit = serviceKit();
    const touched = jest.spyOn(kit.store, 'touch');
    touched.mockResolvedValue({ runs: 1, polls: 2, resumed: 1 });
    const manager = openTransaction();
    expect(await asTeam('a', () => kit.service.touch(subject))).toEqual({ polls: 2 });
    await asTeam('a', () => kit.service.touch(subject, { manager }));
    expect(kit.hints).toEqual([{ work: true }]);
    expect(kit.joined).toMatchObject([{ hint: { work: true } }]);
    expect(touched.mock.calls.map(([, , transaction]) => transaction !== undefined)).toEqual([false, true]);
  });

  it.each([
    [undefined, {}, 'subject'],
    [{ type: 'order' }, {}, 'subject'],
    [{ type: 'order', id: '' }, {}, 'subject'],
    [subject, { ownr: 'a' }, 'ownr'],
  ])('FAULT A18: %p with %p is refused at %s', async (given, options, path) => {
    const { service } = serviceKit();
    const bad = asTeam('a', () => service.touch(given as never, options as never));
    await expect(bad).rejects.toMatchObject({ code: 'INVALID_OPTIONS', problems: [{ path }] });
  });

  it('FAULT A18: an owner that is named and undefined is refused', async () => {
    const { service } = serviceKit();
    await expect(asTeam('a', () => service.touch(subject, { owner: undefined }))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
  });
});

describe('signal', () => {
  it('WAIT-3: a wait that is there gets it at once, and workers are told', async () => {
    const kit = serviceKit();
    const run = await start(kit);
    const job = await claimOne(kit.store);
    await kit.store.suspend([suspending(job, [signalWait('asked')])]);
    expect(await asTeam('a', () => kit.service.get(run))).toMatchObject({ status: 'RUNNING', waiting: true });
    kit.hints.length = 0;
    expect(await asTeam('a', () => kit.service.signal(run, 'approve', { by: 'Ada' }))).toEqual({ status: 'delivered' });
    expect(kit.hints).toEqual([{ work: true }]);
    const { run: view, stages } = await asTeam('a', () => kit.service.history(run));
    expect(view.waiting).toBe(false);
    expect(stages[0]!.steps).toMatchObject([
      { name: 'asked', kind: 'signal', status: 'completed', waitsFor: 'approve', result: { by: 'Ada' } },
    ]);
  });

  it('WAIT-3: one that comes first is kept, and nobody is told', async () => {
    const kit = serviceKit();
    const run = await start(kit);
    kit.hints.length = 0;
    expect(await asTeam('a', () => kit.service.signal(run.id, 'approve'))).toEqual({ status: 'stored' });
    expect(kit.hints).toEqual([]);
    const job = await claimOne(kit.store);
    const [verdict] = await kit.store.suspend([suspending(job, [signalWait('asked')])]);
    expect(verdict).toMatchObject({ verdict: 'recorded', suspended: false });
  });

  it("WAIT-3: a sender's message id makes a repeated send a no-op, for each run by itself", async () => {
    const kit = serviceKit();
    const [one, two] = [await start(kit), await start(kit)];
    const send = (run: typeof one) =>
      asTeam('a', () => kit.service.signal(run, 'approve', null, { messageId: 'mail-7' }));
    expect([await send(one), await send(one), await send(two)]).toEqual([
      { status: 'stored' },
      { status: 'duplicate' },
      { status: 'stored' },
    ]);
  });

  it('TRIG-4: it reaches runs of the same owner only', async () => {
    const kit = serviceKit();
    const run = await start(kit);
    const send = (team: string | null) => asTeam(team, () => kit.service.signal(run, 'approve'));
    await expect(send('b')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(send(null)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(kit.service.asOperator().signal(run, 'approve')).resolves.toEqual({ status: 'stored' });
  });

  it('WAIT-3: a run that has ended is told to the sender', async () => {
    const kit = serviceKit();
    const run = await start(kit);
    await asTeam('a', () => kit.service.cancel(run));
    await expect(asTeam('a', () => kit.service.signal(run, 'approve'))).rejects.toMatchObject({
      code: 'RUN_ENDED',
      params: { runId: run.id, what: 'signal "approve"' },
    });
  });

  it('LIMIT-6: a payload over its limit is refused, naming limit and value', async () => {
    const kit = serviceKit({ maxPayloadBytes: 20 });
    const run = await start(kit);
    const send = asTeam('a', () => kit.service.signal(run, 'approve', 'x'.repeat(20)));
    await expect(send).rejects.toMatchObject({ code: 'INVALID_EVENT', issues: [{ path: 'payload' }] });
    await expect(send).rejects.toThrow(/20 bytes.*limits\.maxOutputBytes = 20/);
  });

  it.each([
    ['no name', undefined, null, {}, ['name']],
    ['a blank name', ' ', null, {}, ['name']],
    ['U+0000 in a name', 'a\0', null, {}, ['name']],
    ['a payload that JSON cannot hold', 'approve', { at: new Date(0) }, {}, ['payload.at']],
    ['an empty message id', 'approve', null, { messageId: '' }, ['messageId']],
    ['an option that there is not, and more', '', null, { messageID: 'x' }, ['messageID', 'name']],
  ])('FAULT A18: %s is refused, all of it at once', async (_case, name, payload, options, paths) => {
    const kit = serviceKit();
    const run = await start(kit);
    const sent = asTeam('a', () => kit.service.signal(run, name as string, payload, options as object));
    await expect(sent).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      issues: paths.map((path) => expect.objectContaining({ path })),
    });
  });

  it('FAULT A18: an undefined run or owner sends nothing', async () => {
    const kit = serviceKit();
    const run = await start(kit);
    await expect(asTeam('a', () => kit.service.signal(undefined as never, 'approve'))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
    await expect(kit.service.signal(run, 'approve')).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    await expect(asTeam('a', () => kit.service.signal(NOBODYS, 'approve'))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });

  it('RUN-1: inside a transaction workers are told when it commits', async () => {
    const kit = serviceKit();
    const run = await start(kit);
    kit.hints.length = 0;
    kit.store.sendSignal = async (_event, _runId, _scope, transaction) => (transaction ? 'delivered' : 'stored');
    await asTeam('a', () => kit.service.signal(run, 'approve', null, { manager: openTransaction() }));
    expect(kit.hints).toEqual([]);
    expect(kit.joined).toMatchObject([{ hint: { work: true } }]);
    const strict = { manager: openTransaction('repeatable read') };
    await expect(asTeam('a', () => kit.service.signal(run, 'approve', null, strict))).rejects.toMatchObject({
      code: 'ISOLATION_LEVEL',
    });
  });
});

describe('emit', () => {
  it('WAIT-3: is stored, then matched by this process', async () => {
    const kit = serviceKit();
    const subject = { type: 'invoice', id: '7' };
    const { eventId, duplicate } = await asTeam('a', () =>
      kit.service.emit({ key: 'paid', payload: { amount: 1 }, subject }),
    );
    expect(duplicate).toBe(false);
    expect(kit.emitted).toEqual([
      { id: eventId, ownerId: 'a', key: 'paid', subject, payload: '{"amount":1}', source: null },
    ]);
    expect((await kit.store.unmatchedEvents(0, null, 10)).events).toEqual(kit.emitted);
    expect(kit.hints).toEqual([]);
  });

  it('TRIG-4: it reaches waits of the same owner only: of the caller, or the one that is named', async () => {
    const kit = serviceKit();
    for (const team of ['a', 'b', null]) {
      await start(kit, team);
      await kit.store.suspend([suspending(await claimOne(kit.store), [eventWait('pay')])]);
    }
    const reached = async (emit: () => Promise<unknown>): Promise<(string | null)[]> => {
      await emit();
      const { waits } = await kit.store.findWaits(kit.emitted.at(-1)!, null, 10);
      return waits.map(({ ownerId }) => ownerId);
    };
    expect(await reached(() => asTeam('b', () => kit.service.emit({ key: 'paid' })))).toEqual(['b']);
    expect(await reached(() => asTeam('b', () => kit.service.emit({ key: 'paid', owner: null })))).toEqual([null]);
    expect(await reached(() => kit.service.emit({ key: 'paid', owner: 'a' }))).toEqual(['a']);
    expect(await reached(() => asTeam('a', () => kit.service.emit({ key: 'refunded' })))).toEqual([]);
  });

  it("WAIT-3: a sender's message id makes a repeated emit a no-op, for each owner by itself", async () => {
    const kit = serviceKit();
    const emit = (team: string) => asTeam(team, () => kit.service.emit({ key: 'paid', messageId: 'm' }));
    expect((await emit('a')).duplicate).toBe(false);
    expect(await emit('a')).toEqual({ eventId: null, duplicate: true });
    expect((await emit('b')).duplicate).toBe(false);
    expect(kit.emitted).toHaveLength(2);
  });

  it.each([
    ['no key', { key: undefined }, ['key']],
    ['a key too long to be found', { key: 'x'.repeat(501) }, ['key']],
    ['half of a character in a key', { key: 'a\ud800' }, ['key']],
    ['a subject without an id', { key: 'k', subject: { type: 'invoice' } }, ['subject']],
    ['a subject that is named and undefined', { key: 'k', subject: undefined }, ['subject']],
    ['a payload with a cycle in it', { key: 'k', payload: cyclic() }, ['payload.self']],
    ['a message id that is no text', { key: 'k', messageId: 7 }, ['messageId']],
    ['an option that there is not', { key: 'k', subjekt: null }, ['subjekt']],
  ])('FAULT A18: %s is refused, and nothing is stored', async (_case, event, paths) => {
    const kit = serviceKit();
    await expect(asTeam('a', () => kit.service.emit(event as never))).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      issues: paths.map((path) => expect.objectContaining({ path })),
    });
    expect((await kit.store.unmatchedEvents(0, null, 10)).events).toEqual([]);
  });

  it('FAULT A18: an owner that comes out undefined stores nothing', async () => {
    const kit = serviceKit();
    await expect(kit.service.emit({ key: 'paid' })).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    await expect(asTeam('a', () => kit.service.emit({ key: 'paid', owner: undefined }))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
    await expect(asTeam('a', () => kit.service.emit(undefined as never))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
    expect((await kit.store.unmatchedEvents(0, null, 10)).events).toEqual([]);
  });

  it('LIMIT-6: a payload over its limit is refused, naming limit and value', async () => {
    const kit = serviceKit({ maxPayloadBytes: 10 });
    await expect(asTeam('a', () => kit.service.emit({ key: 'k', payload: 'x'.repeat(9) }))).rejects.toThrow(
      /Event "k".*\n.*limits\.maxOutputBytes = 10/,
    );
  });

  it('RUN-1: inside a transaction it is matched by whoever hears of its commit, not before', async () => {
    const kit = serviceKit();
    const stored: unknown[] = [];
    kit.store.storeEvent = async (event, transaction) => (stored.push([event.key, transaction !== undefined]), true);
    await asTeam('a', () => kit.service.emit({ key: 'paid', manager: openTransaction() }));
    expect(stored).toEqual([['paid', true]]);
    expect(kit.emitted).toEqual([]);
    expect(kit.joined).toMatchObject([{ hint: { events: true } }]);
  });

  it('RUN-1: only whether a message came before needs READ COMMITTED', async () => {
    const kit = serviceKit();
    kit.store.storeEvent = async () => true;
    const emit = (more: object) =>
      asTeam('a', () => kit.service.emit({ key: 'k', manager: openTransaction('serializable'), ...more }));
    await expect(emit({})).resolves.toMatchObject({ duplicate: false });
    await expect(emit({ messageId: 'm' })).rejects.toMatchObject({ code: 'ISOLATION_LEVEL' });
  });
});

function cyclic(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}
