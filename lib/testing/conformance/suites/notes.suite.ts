import type { AnnotationFilter, RecordedBeside } from '../../../engine/ports/index.js';
import type { AttemptNotes } from '../../../engine/state/notes.js';
import { failed, failing, followedBy, group, joined, linear, newTransition, retrying } from '../builders.js';
import { newAnnotation, newLine, newNotes } from '../step-builders.js';
import { EVERYBODY, rejection, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const withNotes = (notes: AttemptNotes): RecordedBeside => ({
  cancelWaits: false,
  reopen: [],
  freeSteps: false,
  notes,
});

const list = (on: StoreUnderTest, runId: string, given: Partial<AnnotationFilter> = {}) =>
  on.store.listAnnotations({ runId, limit: 100, ...given }, EVERYBODY);

const keys = async (on: StoreUnderTest, runId: string, given: Partial<AnnotationFilter> = {}): Promise<string[]> =>
  (await list(on, runId, given)).map(({ key }) => key);

/** What bodies note down: annotations, lines, how far they are. */
export function describeNotes({ it, expect }: StoreSuite): void {
  it('ANN-1: annotations are written with the outcome, and read as they were', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'acme' });
    const annotation = newAnnotation({ value: '{"words":"\\u0000 3.0"}', actor: '{"id":"u1"}', scope: 'run' });
    const beside = withNotes(newNotes({ annotations: [annotation] }));
    await on.store.record([linear(job, { transition: followedBy(), beside })]);
    const [row, ...more] = await list(on, job.run.id);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      id: annotation.id,
      runId: job.run.id,
      stageRunId: job.stageRun.id,
      attempt: 1,
      key: 'words',
      value: '{"words":"\\u0000 3.0"}',
      scope: 'run',
      actor: '{"id":"u1"}',
    });
    expect(Math.abs(Date.parse(row?.createdAt ?? '') - Date.parse(await on.store.now()))).toBeLessThanOrEqual(60_000);
    expect((await on.history(job.run.id)).annotations).toEqual([row]);
  });

  it('OBS-3: lines and progress are written with the outcome', async (on) => {
    const job = await on.startAndClaim();
    const lines = [
      newLine({ message: 'one' }),
      newLine({ level: 'warn', message: 'two' }),
      newLine({ level: 'error' }),
    ];
    const progress = { done: 3, total: null, message: null };
    await on.store.record([linear(job, { beside: withNotes(newNotes({ lines, progress })) })]);
    const history = await on.history(job.run.id);
    expect(history.lines.map(({ id }) => id)).toEqual(lines.map(({ id }) => id));
    expect(history.lines[1]).toMatchObject({ stageRunId: job.stageRun.id, attempt: 1, level: 'warn', message: 'two' });
    expect(history.stageRuns[0]?.progress).toEqual(progress);
  });

  it('OBS-3: a stage that said nothing of how far it is has no progress; the last word stays', async (on) => {
    const job = await on.startAndClaim();
    expect((await on.stageRun(job.run.id, 'first')).progress).toBeNull();
    const progress = { done: 1, total: 2, message: 'half' };
    await on.store.record([linear(job, { outcome: retrying(), beside: withNotes(newNotes({ progress })) })]);
    const silent = withNotes({ annotations: [], lines: [], progress: null });
    await on.store.record([linear(await on.claimAgain(job), { outcome: retrying(), beside: silent })]);
    expect((await on.stageRun(job.run.id, 'first')).progress).toEqual(progress);
  });

  it('ANN-1: what a failed attempt noted down is kept, as of that attempt', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(), beside: withNotes(newNotes()) })]);
    const again = await on.claimAgain(job);
    const beside = withNotes(newNotes());
    await on.settle([joined(again, { outcome: failed(), beside })], () => failing());
    expect((await on.run(job.run.id)).status).toBe('FAILED');
    expect((await list(on, job.run.id)).map(({ attempt }) => attempt)).toEqual([2, 1]);
    expect((await on.history(job.run.id)).lines.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('ANN-1: branches that end together keep what each noted down', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    const records = claimed.map((branch) =>
      joined(branch, { beside: withNotes(newNotes({ annotations: [newAnnotation({ key: branch.stageRun.key })] })) }),
    );
    await on.settle(records, () => newTransition());
    const runId = claimed[0]?.run.id ?? '';
    expect((await keys(on, runId)).sort()).toEqual(['left', 'right']);
    const rows = await list(on, runId);
    for (const { key, stageRunId } of rows) {
      expect(stageRunId).toBe(claimed.find(({ stageRun }) => stageRun.key === key)?.stageRun.id);
    }
  });

  it('ANN-1: nothing is noted down where the outcome is not recorded', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id);
    const beside = withNotes(newNotes());
    expect(await on.store.record([linear(job, { beside })])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.settle([joined(job, { beside })], () => newTransition())).toEqual([{ verdict: 'not-fenced' }]);
    const { annotations, lines, stageRuns } = await on.history(job.run.id);
    expect([annotations, lines, stageRuns[0]?.progress]).toEqual([[], [], null]);
  });

  it('ANN-1: of one call only what is recorded is noted down', async (on) => {
    const [live, cancelled, plain] = [await on.startAndClaim(), await on.startAndClaim(), await on.startAndClaim()];
    await on.cancel(cancelled.run.id);
    const records = [live, cancelled].map((job) => linear(job, { beside: withNotes(newNotes()) }));
    const verdicts = await on.store.record([...records, linear(plain)]);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['recorded', 'not-fenced', 'recorded']);
    expect(await keys(on, live.run.id)).toEqual(['words']);
    expect(await keys(on, cancelled.run.id)).toEqual([]);
    expect(await keys(on, plain.run.id)).toEqual([]);
  });

  it('ANN-1: notes that cannot be stored keep the outcome from being recorded', async (on) => {
    const beside = withNotes(newNotes({ lines: [newLine({ message: 'a\u0000b' })] }));
    const [one, two] = [await on.startAndClaim(), await on.startAndClaim()];
    const errors = [
      await rejection(on.store.record([linear(one, { beside })])),
      await rejection(on.store.settle([joined(two, { beside })], () => newTransition())),
    ];
    for (const error of errors) expect(on.store.isDataError(error)).toBe(true);
    for (const job of [one, two]) {
      expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'RUNNING', progress: null });
      expect(await keys(on, job.run.id)).toEqual([]);
      expect(await on.store.record([linear(job)])).toMatchObject([{ verdict: 'recorded' }]);
    }
  });

  it('ANN-1: annotations are listed newest first, in pages', async (on) => {
    const job = await on.startAndClaim();
    const annotations = ['a', 'b', 'c'].map((key) => newAnnotation({ key }));
    await on.store.record([linear(job, { outcome: retrying(), beside: withNotes(newNotes({ annotations })) })]);
    expect(await keys(on, job.run.id)).toEqual(['c', 'b', 'a']);
    const page = await list(on, job.run.id, { limit: 2 });
    expect(page.map(({ key }) => key)).toEqual(['c', 'b']);
    expect(await keys(on, job.run.id, { before: page[1]?.id ?? '' })).toEqual(['a']);
  });

  it('ANN-1: annotations are narrowed by key, scope, actor, attempt and time', async (on) => {
    const job = await on.startAndClaim();
    const [mine, theirs] = ['{"id":"u1"}', '{"id":"u2"}'];
    const first = [
      newAnnotation({ key: 'risk.score', scope: 'run', actor: mine }),
      newAnnotation({ key: 'risk_score' }),
      newAnnotation({ key: 'Risk.level', actor: theirs }),
    ];
    await on.store.record([linear(job, { outcome: retrying(), beside: withNotes(newNotes({ annotations: first })) })]);
    on.travel(60_000);
    const since = await on.store.now();
    on.travel(60_000);
    const second = [newAnnotation({ key: 'risk.level', actor: mine })];
    const again = await on.claimAgain(job);
    await on.store.record([linear(again, { beside: withNotes(newNotes({ annotations: second })) })]);

    const found = async (given: Partial<AnnotationFilter>) => (await keys(on, job.run.id, given)).sort();
    expect(await found({ keyPrefix: 'risk.' })).toEqual(['risk.level', 'risk.score']);
    expect(await found({ keyPrefix: 'risk_' })).toEqual(['risk_score']);
    expect(await found({ keyPrefix: '%' })).toEqual([]);
    expect(await found({ scope: 'run' })).toEqual(['risk.score']);
    expect(await found({ actor: mine })).toEqual(['risk.level', 'risk.score']);
    expect(await found({ attempt: 2 })).toEqual(['risk.level']);
    expect(await found({ since })).toEqual(['risk.level']);
    expect(await found({ until: since })).toEqual(['Risk.level', 'risk.score', 'risk_score'].sort());
    expect(await found({ actor: mine, attempt: 1, keyPrefix: 'risk' })).toEqual(['risk.score']);
  });

  it('OWNER-5: annotations of a run of another owner read as none', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'acme' });
    await on.store.record([linear(job, { beside: withNotes(newNotes()) })]);
    const seen = (owner: string | null) => on.store.listAnnotations({ runId: job.run.id, limit: 10 }, { owner });
    expect(await seen('acme')).toHaveLength(1);
    expect(await seen('other')).toEqual([]);
    expect(await seen(null)).toEqual([]);
    expect(await keys(on, newAnnotation().id)).toEqual([]);
  });
}
