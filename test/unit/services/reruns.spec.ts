import { failed, joined, linear, retrying } from '../../../lib/testing/conformance/builders.js';
import { sleep, suspending } from '../../../lib/testing/conformance/step-builders.js';
import { decideSettled } from '../../../lib/engine/state/decide.js';
import { openTransaction } from './open-transaction.js';
import { asTeam, serviceKit } from './service-kit.js';
import { claimOne, completeNext, flow, line } from './three-stages.js';

const one = flow(1, line('a', 'b', 'c'));
const two = flow(2, line('a', 'b', 'between', 'c'));

async function completedRun(definitions = [one]) {
  const kit = serviceKit({ definitions });
  const { run } = await asTeam('a', () => kit.service.start('flow', { n: 1 }));
  for (let at = 0; at < 3; at += 1) await completeNext(kit.store, one);
  kit.hints.length = 0;
  return { ...kit, run };
}

describe('rerunFrom', () => {
  it('RUN-5: the run goes on from the node with the output before it; what was set aside stays as history', async () => {
    const { service, store, run, hints } = await completedRun();
    expect(await asTeam('a', () => service.rerunFrom(run, 'b'))).toEqual({ generation: 2, duplicate: false });
    expect(hints).toEqual([{ work: true }]);
    const job = await claimOne(store);
    expect(job).toMatchObject({ run: { id: run.id, generation: 2 }, stageRun: { key: 'b', attempt: 1 } });
    expect(job.earlier).toMatchObject([{ key: 'a', output: '"a"' }]);
    const { run: view, stages } = await asTeam('a', () => service.history(run));
    expect(view).toMatchObject({ status: 'RUNNING', generation: 2, output: undefined, finishedAt: null });
    expect(stages.map(({ generation, key, status }) => `${generation} ${key} ${status}`)).toEqual([
      '1 b COMPLETED',
      '1 c COMPLETED',
      '2 a COMPLETED',
      '2 b RUNNING',
    ]);
  });

  it('RUN-5: the same idempotency key reruns it once, another one again', async () => {
    const { service, run } = await completedRun();
    const rerun = (node: string, idempotencyKey: string) =>
      asTeam('a', () => service.rerunFrom(run, node, { idempotencyKey }));
    expect(await rerun('b', 'k')).toEqual({ generation: 2, duplicate: false });
    // Not even once it has ended: the key lives as long as the run.
    await asTeam('a', () => service.cancel(run));
    expect(await rerun('b', 'k')).toEqual({ generation: 2, duplicate: true });
    expect(await rerun('b', 'other')).toEqual({ generation: 3, duplicate: false });
  });

  it('RUN-5: a rerun that was refused keeps its key free', async () => {
    const { service, run } = await completedRun();
    const rerun = () => asTeam('a', () => service.rerunFrom(run, 'b', { idempotencyKey: 'k' }));
    await asTeam('a', () => service.rerunFrom(run, 'c'));
    await expect(rerun()).rejects.toMatchObject({ code: 'RUN_NOT_RERUNNABLE' });
    await asTeam('a', () => service.cancel(run));
    await expect(rerun()).resolves.toEqual({ generation: 3, duplicate: false });
  });

  it('AUDIT-1: a node that none can be is refused before anything of it is kept', async () => {
    const { service, audit, run } = await completedRun();
    const odd: unknown[] = ['x'.repeat(501), 'a\u0000', { toString: () => 'b' }];
    for (const node of odd) {
      const rerun = asTeam('a', () => service.rerunFrom(run, node as string));
      await expect(rerun).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    }
    expect((await asTeam('a', () => audit.list({ action: 'rerunFrom' }))).entries).toEqual([]);
  });

  it('FAULT F4: a cancelled run can be rerun, and is then executed', async () => {
    const kit = serviceKit({ definitions: [one] });
    const { run } = await asTeam('a', () => kit.service.start('flow', null));
    await asTeam('a', () => kit.service.cancel(run));
    await asTeam('a', () => kit.service.rerunFrom(run, 'a'));
    for (let at = 0; at < 3; at += 1) await completeNext(kit.store, one);
    expect(await asTeam('a', () => kit.service.get(run))).toMatchObject({ status: 'COMPLETED', cancelReason: null });
  });

  it.each([
    ['a node that there is not', 'd', /no node d/],
    ['a run that goes on', 'a', /not ended yet/],
  ])('RUN-5: %s is refused with its status and why', async (_case, node, why) => {
    const kit = serviceKit({ definitions: [one] });
    const { run } = await asTeam('a', () => kit.service.start('flow', null));
    if (node === 'd') await asTeam('a', () => kit.service.cancel(run));
    const rerun = asTeam('a', () => kit.service.rerunFrom(run, node));
    await expect(rerun).rejects.toMatchObject({
      code: 'RUN_NOT_RERUNNABLE',
      params: { node, status: node === 'd' ? 'CANCELLED' : 'RUNNING', why: expect.stringMatching(why) },
    });
  });

  it.each([
    ['no run', [undefined, 'a', {}], 'UNDEFINED_ID'],
    ['no node', ['run', undefined, {}], 'UNDEFINED_ID'],
    ['an empty key', ['run', 'a', { idempotencyKey: '' }], 'INVALID_OPTIONS'],
    ['a run of another owner', ['theirs', 'a', {}], 'RUN_NOT_FOUND'],
    ['a strict transaction', ['run', 'a', { manager: openTransaction('serializable') }], 'ISOLATION_LEVEL'],
  ] as const)('FAULT A18: %s is refused', async (_case, [which, node, options], code) => {
    const { service, run } = await completedRun();
    const team = which === 'theirs' ? 'b' : 'a';
    const rerun = asTeam(team, () => service.rerunFrom((which && run) as never, node as never, options));
    await expect(rerun).rejects.toMatchObject({ code });
  });
});

describe('migrateRun', () => {
  async function waitingRun(definitions = [one, two]) {
    const kit = serviceKit({ definitions: [...definitions] });
    const { run } = await asTeam('a', () => kit.service.start('flow', null));
    await completeNext(kit.store, one);
    await kit.store.suspend([suspending(await claimOne(kit.store), [sleep('nap', 1_000)])]);
    kit.hints.length = 0;
    return { ...kit, run };
  }

  it('VER-1: a run that waits goes on by the other version', async () => {
    const { service, store, clock, run, hints } = await waitingRun();
    await asTeam('a', () => service.migrateRun(run, 2));
    expect(hints).toEqual([{ work: true }]);
    expect(await asTeam('a', () => service.get(run))).toMatchObject({ version: 2, status: 'RUNNING', waiting: true });
    clock.advance(1_000);
    await store.fireDue(10, 0);
    expect((await completeNext(store, two)).run).toMatchObject({ definitionVersion: 2 });
    expect((await completeNext(store, two)).stageRun.key).toBe('between');
  });

  it('VER-1: a job that waits goes along: it is claimed as one of the other version', async () => {
    const kit = serviceKit({ definitions: [one, two] });
    // The highest version is taken by a start; this one is moved back.
    const { run } = await asTeam('a', () => kit.service.start('flow', null));
    const from = (await asTeam('a', () => kit.service.get(run))).version;
    await asTeam('a', () => kit.service.migrateRun(run, from === 1 ? 2 : 1));
    const { claimed } = await kit.store.claim({
      workerId: 'w',
      limit: 1,
      queues: null,
      unserved: [`flow@${from}#${String(from).repeat(16)}`],
    });
    expect(claimed).toMatchObject([{ run: { id: run.id } }]);
  });

  it('VER-1: a run that failed is moved, then retried under the version that mends it', async () => {
    const kit = serviceKit({ definitions: [one, two] });
    const { run } = await asTeam('a', () => kit.service.start('flow', null));
    await completeNext(kit.store, one);
    const job = await claimOne(kit.store);
    const context = { nextId: () => '018f0000-0000-7000-8000-000000000001', defaultQueue: 'default' };
    await kit.store.settle([joined(job, { outcome: failed() })], (_key, state, event) =>
      decideSettled(one.compiled, state, event, context),
    );
    await asTeam('a', () => kit.service.migrateRun(run, 2));
    await asTeam('a', () => kit.service.retry(run));
    expect((await completeNext(kit.store, two)).stageRun).toMatchObject({ key: 'b', attempt: 2 });
    expect((await completeNext(kit.store, two)).stageRun.key).toBe('between');
  });

  it.each([
    ['a version that this build does not serve', [one, two], 3, /does not serve version 3 of flow.*1, 2\./],
    ['the version it is at', [one, two], 1, /at that version already/],
    ['a version without its nodes', [one, flow(2, line('a', 'c'))], 2, /no node b/],
  ] as const)('VER-1: %s is refused, saying what is missing', async (_case, definitions, version, why) => {
    const { service, run } = await waitingRun([...definitions]);
    await expect(asTeam('a', () => service.migrateRun(run, version))).rejects.toMatchObject({
      code: 'RUN_NOT_MIGRATABLE',
      params: { version, status: 'RUNNING', why: expect.stringMatching(why) },
    });
    expect(await asTeam('a', () => service.get(run))).toMatchObject({ version: 1 });
  });

  it('VER-1: not while a stage of it runs, but in the pause before its retry', async () => {
    const kit = serviceKit({ definitions: [one, two] });
    const { run } = await asTeam('a', () => kit.service.start('flow', null));
    const job = await claimOne(kit.store);
    const migrate = () => asTeam('a', () => kit.service.migrateRun(run, 2));
    await expect(migrate()).rejects.toThrow(/a is running right now/);
    await kit.store.record([linear(job, { outcome: retrying(60_000) })]);
    await expect(migrate()).resolves.toBeUndefined();
  });

  it.each([
    [undefined, 'UNDEFINED_ID'],
    [0, 'INVALID_OPTIONS'],
    ['2', 'INVALID_OPTIONS'],
  ])('FAULT A18: version %p is refused', async (version, code) => {
    const { service, run } = await waitingRun();
    await expect(asTeam('a', () => service.migrateRun(run, version as never))).rejects.toMatchObject({ code });
    await expect(asTeam('b', () => service.migrateRun(run, 2))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});
