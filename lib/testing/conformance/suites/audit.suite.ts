import type { AuditEntry, AuditFilter, ChangeDecision, NewAuditRow, OwnerScope } from '../../../engine/ports/index.js';
import { cancelling, newId } from '../builders.js';
import { newSignal } from '../step-builders.js';
import { EVERYBODY, rejection, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const entry = (given: Partial<AuditEntry> = {}): AuditEntry => ({
  id: newId(),
  action: 'cancel',
  ability: 'runs.cancel',
  actor: '{"id":"ada"}',
  allowed: true,
  reason: 'asked for',
  source: 'service',
  details: '{"a":"\\u0000"}',
  ...given,
});

const row = (given: Partial<NewAuditRow> = {}): NewAuditRow => ({
  ...entry(given),
  ownerId: 'a',
  runId: null,
  ...given,
});

const list = (on: StoreUnderTest, given: Partial<AuditFilter> = {}, scope: OwnerScope = EVERYBODY) =>
  on.store.listAudit({ limit: 100, ...given }, scope);

const idsOf = async (rows: Promise<readonly { readonly id: string }[]>): Promise<string[]> =>
  (await rows).map(({ id }) => id);

/** What operators asked for. */
export function describeAudit({ it, expect }: StoreSuite): void {
  it('AUDIT-1: what is kept of a change is a part of it: its run, its owner, the clock', async (on) => {
    const run = await on.start({ ownerId: 'a' });
    on.travel(60_000);
    const kept = entry();
    const decision: ChangeDecision<string> = { transition: cancelling(), answer: 'yes' };
    const audit = (answer: string): AuditEntry => ({ ...kept, details: JSON.stringify({ answer }) });
    await on.store.changeRun(run.id, { owner: 'a' }, () => decision, undefined, { audit });
    const [written] = await list(on);
    expect(written).toMatchObject({ ...kept, details: '{"answer":"yes"}', runId: run.id, ownerId: 'a' });
    expect(Math.abs(Date.parse(written!.createdAt) - Date.parse(await on.store.now()))).toBeLessThanOrEqual(20_000);
  });

  it('AUDIT-1: a change that fails is not kept either', async (on) => {
    const run = await on.start();
    const audit = (): AuditEntry => {
      throw new Error('no entry');
    };
    const change = on.store.changeRun(run.id, EVERYBODY, () => ({ transition: cancelling(), answer: 1 }), undefined, {
      audit,
    });
    await rejection(change);
    expect(await list(on)).toEqual([]);
    expect((await on.run(run.id)).status).toBe('RUNNING');
  });

  it('AUDIT-1: a call that changed nothing is kept; one of a run outside the scope is not', async (on) => {
    const run = await on.start({ ownerId: 'a' });
    const look = (scope: OwnerScope) =>
      on.store.changeRun(run.id, scope, () => ({ transition: null, answer: 1 }), undefined, { audit: () => entry() });
    expect(await look({ owner: 'b' })).toBe(undefined);
    expect(await list(on)).toEqual([]);
    await look({ owner: 'a' });
    expect((await list(on)).length).toBe(1);
  });

  it('AUDIT-1: what is kept of a signal says what became of it, once where its answer was lost', async (on) => {
    const run = await on.start({ ownerId: 'a' });
    const signal = newSignal({ key: 'approve' });
    const id = newId();
    const send = (scope: OwnerScope) =>
      on.store.sendSignal(signal, run.id, scope, undefined, (verdict) => entry({ id, action: verdict }));
    expect(await send({ owner: 'b' })).toBe('not-found');
    expect(await list(on)).toEqual([]);
    await send({ owner: 'a' });
    await send({ owner: 'a' });
    expect(await list(on)).toMatchObject([{ id, action: 'stored', runId: run.id, ownerId: 'a' }]);
  });

  it('AUDIT-1: what is kept of dead letters that are put back, a letter an entry', async (on) => {
    const run = await on.start({ ownerId: 'a' });
    await on.cancel(run.id);
    const [letter] = await on.store.readOutbox('r', await on.store.leaseSlots('r', 60_000, 16), 10);
    const kept = entry({ action: 'replayDeadLetter' });
    const replay = () => on.store.replayDeadLetters([letter!.id, '99999999'], ({ id }) => ({ ...kept, details: id }));
    expect(await replay()).toBe(0);
    await on.store.failOutbox(letter!.id, 0, 'broken', null);
    expect(await replay()).toBe(1);
    expect(await list(on)).toMatchObject([{ ...kept, details: letter!.id, runId: run.id, ownerId: 'a' }]);
    expect(await on.store.listDeadLetters(10)).toEqual([]);
  });

  it('AUDIT-1: lists newest first within an owner, by run, action and actor, a page at a time', async (on) => {
    const runId = newId();
    const rows = [
      row(),
      row({ action: 'retry', runId }),
      row({ actor: null, runId }),
      row({ ownerId: 'b', runId }),
      row({ ownerId: null }),
    ];
    await on.store.writeAudit(rows);
    await on.store.writeAudit([]);
    const [first, second, third, fourth, fifth] = rows.map(({ id }) => id);
    const a = { owner: 'a' };
    expect(await idsOf(list(on, {}, a))).toEqual([third, second, first]);
    expect(await idsOf(list(on, {}, { owner: null }))).toEqual([fifth]);
    expect(await idsOf(list(on, { runId }))).toEqual([fourth, third, second]);
    expect(await idsOf(list(on, { runId }, a))).toEqual([third, second]);
    expect(await idsOf(list(on, { runId, action: 'retry' }))).toEqual([second]);
    expect(await idsOf(list(on, { actor: '{"id":"ada"}' }, a))).toEqual([second, first]);
    expect(await idsOf(list(on, { limit: 2 }))).toEqual([fifth, fourth]);
    expect(await idsOf(list(on, { limit: 2, before: fourth }))).toEqual([third, second]);
    expect((await list(on, { before: second }))[0]).toMatchObject(rows[0] as object);
  });

  it('AUTH-5: a run is found within its scope only, without its payloads', async (on) => {
    const run = await on.start({ ownerId: 'a' });
    const found = await on.store.findRun(run.id, { owner: 'a' });
    expect(found).toMatchObject({ id: run.id, status: 'RUNNING', ownerId: 'a', definitionId: run.definitionId });
    expect(Object.keys(found!).includes('input')).toBe(false);
    expect((await on.store.findRun(run.id, EVERYBODY))?.id).toBe(run.id);
    expect(await on.store.findRun(run.id, { owner: null })).toBe(undefined);
    expect(await on.store.findRun(newId(), EVERYBODY)).toBe(undefined);
  });
}
