import { completed, linear } from '../../../lib/testing/conformance/builders.js';
import {
  begin,
  eventWait,
  failureText,
  finish,
  newAnnotation,
  newLine,
  newNotes,
  sleep,
  suspending,
} from '../../../lib/testing/conformance/step-builders.js';
import { asTeam, serviceKit } from './service-kit.js';
import { claimOne } from './three-stages.js';

const ACTOR = { name: 'Ada' };

/** A run whose only stage noted down three facts, and has completed. */
async function notedRun() {
  const kit = serviceKit();
  const { run } = await asTeam('a', () => kit.service.start('greet', { name: 'x' }, { actor: ACTOR }));
  const job = await claimOne(kit.store);
  const annotations = [
    newAnnotation({ key: 'risk.score', value: '7', actor: JSON.stringify(ACTOR) }),
    newAnnotation({ key: 'risk.reason', value: '{"why":"new"}' }),
    newAnnotation({ key: 'total', value: '[1]', scope: 'run' }),
  ];
  const beside = { cancelWaits: false, reopen: [], freeSteps: false, notes: newNotes({ annotations }) };
  await kit.store.record([linear(job, { outcome: completed('1'), beside })]);
  return { ...kit, run, job };
}

describe('AnnotationsService', () => {
  it('ANN-1: lists what bodies noted down, newest first, a page at a time', async () => {
    const { annotations, run, job } = await notedRun();
    const first = await asTeam('a', () => annotations.list(run, { limit: 2 }));
    expect(first.annotations).toMatchObject([
      { key: 'total', value: [1], scope: 'run', actor: null },
      { key: 'risk.reason', value: { why: 'new' }, stageRunId: job.stageRun.id, attempt: 1 },
    ]);
    expect(first.annotations[0]!.createdAt).toEqual(new Date('2030-01-01T00:00:00Z'));
    const second = await asTeam('a', () => annotations.list(run.id, { limit: 2, cursor: first.cursor }));
    expect(second).toMatchObject({ annotations: [{ key: 'risk.score', value: 7, actor: ACTOR }], cursor: null });
  });

  it.each([
    ['key prefix', { keyPrefix: 'risk.' }, ['risk.reason', 'risk.score']],
    ['scope', { scope: 'run' }, ['total']],
    ['actor', { actor: ACTOR }, ['risk.score']],
    ['attempt', { attempt: 2 }, []],
    [
      'time',
      { since: new Date('2030-01-01T00:00:00Z'), until: new Date('2030-01-02') },
      ['total', 'risk.reason', 'risk.score'],
    ],
    ['later time', { since: new Date('2030-01-02') }, []],
  ] as const)('ANN-1: are found by %s', async (_case, options, keys) => {
    const { annotations, run } = await notedRun();
    const page = await asTeam('a', () => annotations.list(run, options));
    expect(page.annotations.map(({ key }) => key)).toEqual(keys);
  });

  it("OWNER-5: another owner's run has none, an operator sees them", async () => {
    const { annotations, run } = await notedRun();
    expect(await asTeam('b', () => annotations.list(run))).toEqual({ annotations: [], cursor: null });
    expect((await annotations.asOperator().list(run)).annotations).toHaveLength(3);
    await expect(annotations.list(run)).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
  });

  it('FAULT A18: filters that are wrong, unknown, or named and undefined are refused', async () => {
    const { annotations, run } = await notedRun();
    const list = (options: object) => asTeam('a', () => annotations.list(run, options));
    await expect(list({ limit: 0, scope: 'all', keyprefix: 'x', attempt: 0, since: 'now' })).rejects.toMatchObject({
      problems: ['keyprefix', 'scope', 'attempt', 'since', 'limit'].map((path) => ({ path })),
    });
    await expect(list({ actor: null })).rejects.toMatchObject({ problems: [{ path: 'actor' }] });
    await expect(list({ cursor: 'x' })).rejects.toMatchObject({ problems: [{ path: 'cursor' }] });
    await expect(list({ keyPrefix: undefined })).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    await expect(asTeam('a', () => annotations.list(undefined as never))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
  });
});

describe('history', () => {
  it('OBS-3: shows log lines and how far a stage was; ANN-1: annotations', async () => {
    const { service, run } = await notedRun();
    const { stages, annotations } = await asTeam('a', () => service.history(run));
    expect(stages[0]).toMatchObject({
      log: [{ level: 'log', message: newLine().message, attempt: 1, at: expect.any(Date) }],
      progress: { done: 1, total: 3, message: 'first page' },
    });
    expect(annotations.map(({ key, value }) => [key, value])).toEqual([
      ['risk.score', 7],
      ['risk.reason', { why: 'new' }],
      ['total', [1]],
    ]);
  });

  it('STEP-1: shows steps and waits as the body had them, and what each came to', async () => {
    const kit = serviceKit();
    const { run } = await asTeam('a', () => kit.service.start('greet', { name: 'x' }));
    const job = await claimOne(kit.store);
    await kit.store.writeSteps([begin(job, 'fetch%23#1'), begin(job, 'all#1[3]/save#2')]);
    const failure = { kind: 'failed', failure: failureText('disk full') } as const;
    await kit.store.writeSteps([
      finish(job, 'all#1[3]/save#2', { outcome: failure, seq: 1 }),
      finish(job, 'fetch%23#1', { outcome: { kind: 'completed', result: 'null' }, seq: 2 }),
    ]);
    const waits = [sleep('nap#1', 60_000), eventWait('pay#1')];
    await kit.store.suspend([suspending(job, waits)]);
    const { stages } = await asTeam('a', () => kit.service.history(run));
    expect(stages[0]!.steps).toEqual([
      expect.objectContaining({
        name: 'save',
        key: 'all#1[3]/save#2',
        kind: 'run',
        status: 'failed',
        attempt: 1,
        result: undefined,
        error: { code: 'EXCEPTION', message: 'disk full' },
        endedAt: expect.any(Date),
      }),
      expect.objectContaining({ name: 'fetch#', status: 'completed', result: null, error: null }),
      expect.objectContaining({
        name: 'nap',
        kind: 'sleep',
        status: 'waiting',
        dueAt: new Date('2030-01-01T00:01:00Z'),
        endedAt: null,
      }),
      expect.objectContaining({ name: 'pay', kind: 'event', waitsFor: 'paid', dueAt: null, timedOut: false }),
    ]);
  });
});
