import type {
  AuditEntry,
  GraphChangeOptions,
  GraphEvent,
  GraphName,
  GraphRow,
  OutboxRow,
} from '../../../engine/ports/index.js';
import {
  decideDraft,
  decidePublish,
  decideRetire,
  type DraftAnswer,
  type PublishAnswer,
} from '../../../engine/state/decide-graph-change.js';
import { seriesId } from '../../../engine/codec/series-id.js';
import { newId } from '../builders.js';
import { EVERYBODY, rejection, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const A: GraphName = { ownerId: 'a', definitionId: 'expenses' };
const B: GraphName = { ownerId: 'b', definitionId: 'expenses' };
const SHARED: GraphName = { ownerId: null, definitionId: 'expenses' };
const ADA = '{"id":"ada"}';
/** Odd in every way that JSON text can be: it comes back as it was given. */
const SOURCE = '{"id":"expenses", "b":1,"a":"\\u0000","b2":[ ]}';

const entry = (given: Partial<AuditEntry> = {}): AuditEntry => ({
  id: newId(),
  action: 'publish',
  ability: null,
  actor: ADA,
  allowed: true,
  reason: null,
  source: 'service',
  details: null,
  ...given,
});

const eventOf = (row: GraphRow): GraphEvent => ({
  event: { type: 'definition:published', data: { version: row.version, note: row.note } },
  seriesId: seriesId(row),
});

async function save(
  on: StoreUnderTest,
  name: GraphName,
  given: { source?: string; note?: string; expected?: string | null } = {},
): Promise<{ answer: DraftAnswer; draft: GraphRow | undefined }> {
  const saved = { id: newId(), source: given.source ?? SOURCE, note: given.note ?? null };
  const decide = (head: Parameters<typeof decideDraft>[0]) => decideDraft(head, saved, given.expected);
  const { answer, rows } = await on.store.changeGraph(name, decide, { actor: ADA, event: eventOf });
  return { answer, draft: rows[0] };
}

async function publish(
  on: StoreUnderTest,
  name: GraphName,
  fingerprint: string,
  given: { source?: string; draft?: string; store?: StoreUnderTest['store'] } = {},
  options: Partial<GraphChangeOptions<PublishAnswer>> = {},
): Promise<{ answer: PublishAnswer; row: GraphRow | undefined }> {
  const published = {
    id: newId(),
    fingerprint,
    source: given.source ?? SOURCE,
    note: 'why',
    draft: given.draft ?? null,
  };
  const { answer, rows } = await (given.store ?? on.store).changeGraph(name, (head) => decidePublish(head, published), {
    actor: ADA,
    event: eventOf,
    ...options,
  });
  return { answer, row: rows[0] };
}

const retire = (on: StoreUnderTest, name: GraphName, version: number | null) =>
  on.store.changeGraph(name, (head) => decideRetire(head, version), { actor: ADA, event: eventOf });

async function told(on: StoreUnderTest): Promise<OutboxRow[]> {
  const slots = await on.store.leaseSlots('reader', 60_000, 16);
  const rows = await on.store.readOutbox('reader', slots, 10_000);
  await on.store.releaseSlots('reader');
  return rows;
}

/** Drafts and versions of graphs. */
export function describeGraphs({ it, expect }: StoreSuite): void {
  it('TRIG-1: the triggers of the highest published version are in force, written with it', async (on) => {
    const triggers = (source: string) =>
      (JSON.parse(source) as string[]).map((triggerId) => ({
        ...{ id: newId(), triggerId, spec: '{}', fingerprint: 'f', eventKey: null },
        type: 'webhook' as const,
      }));
    const inForce = async (): Promise<string[]> =>
      (await on.store.listTriggers({ limit: 10 }, EVERYBODY)).flatMap((row) =>
        row.status === 'active' ? [`${row.ownerId ?? 'all'} ${row.definitionVersion} ${row.triggerId}`] : [],
      );
    const retired = (name: GraphName, version: number | null) =>
      on.store.changeGraph(name, (head) => decideRetire(head, version), { actor: ADA, triggers });
    await publish(on, A, 'f1', { source: '["x","y"]' }, { triggers });
    await publish(on, SHARED, 'f1', { source: '["x"]' }, { triggers });
    expect(await inForce()).toEqual(['all 1 x', 'a 1 x', 'a 1 y']);
    await publish(on, A, 'f2', { source: '["y","z"]' }, { triggers });
    expect(await inForce()).toEqual(['all 1 x', 'a 2 y', 'a 2 z']);
    await retired(A, 1);
    expect(await inForce()).toEqual(['all 1 x', 'a 2 y', 'a 2 z']);
    await publish(on, A, 'f3', { source: '[]' }, { triggers });
    await retired(A, 3);
    expect(await inForce()).toEqual(['all 1 x', 'a 2 y', 'a 2 z']);
    await retired(A, null);
    expect(await inForce()).toEqual(['all 1 x']);
    const audit = (): AuditEntry => {
      throw new Error('The process died.');
    };
    await rejection(publish(on, B, 'f1', { source: '["x"]' }, { triggers, audit }));
    expect(await inForce()).toEqual(['all 1 x']);
  });

  it('GRAPH-2: a draft is kept as it was given, one for each owner and one for all', async (on) => {
    on.travel(60_000);
    const { answer, draft } = await save(on, A, { note: 'first' });
    expect(answer).toEqual({ kind: 'saved' });
    await save(on, B, { source: '{"id":"b"}' });
    await save(on, SHARED, { source: '{"id":"all"}' });
    const found = await on.store.findGraph(A, 'draft');
    expect(found).toMatchObject({ ...A, status: 'draft', version: null, fingerprint: null, note: 'first', actor: ADA });
    expect(found?.source).toBe(SOURCE);
    expect(found?.id).toBe(draft?.id);
    expect(Math.abs(Date.parse(found!.createdAt) - Date.parse(await on.store.now()))).toBeLessThanOrEqual(20_000);
    expect((await on.store.findGraph(B, 'draft'))?.source).toBe('{"id":"b"}');
    expect((await on.store.findGraph(SHARED, 'draft'))?.source).toBe('{"id":"all"}');
    expect(await told(on)).toEqual([]);
  });

  it('GRAPH-2: a draft that somebody saved meanwhile is not written over unseen', async (on) => {
    const first = await save(on, A, { expected: null });
    const second = await save(on, A, { source: '{"v":2}', expected: first.draft!.id });
    expect(second.answer).toEqual({ kind: 'saved' });
    expect(second.draft?.id === first.draft?.id).toBe(false);
    expect(second.draft?.createdAt).toBe(first.draft?.createdAt);
    const late = await save(on, A, { source: '{"v":3}', expected: first.draft!.id });
    expect(late.answer).toEqual({ kind: 'conflict', draft: second.draft!.id });
    expect((await save(on, A, { expected: null })).answer.kind).toBe('conflict');
    expect((await on.store.findGraph(A, 'draft'))?.source).toBe('{"v":2}');
    expect((await save(on, A, { source: '{"v":4}' })).answer).toEqual({ kind: 'saved' });
  });

  it('GRAPH-2: of two who save what they both read one wins', async (on) => {
    const { draft } = await save(on, A);
    const answers = await Promise.all([1, 2].map(() => save(on, A, { expected: draft!.id })));
    expect(answers.map(({ answer }) => answer.kind).sort()).toEqual(['conflict', 'saved']);
  });

  it('GRAPH-2: publishing makes version n + 1, retired ones counted; each stands as it was', async (on) => {
    const first = await publish(on, A, 'f1', { source: '{"v":1}' });
    expect(first.answer).toEqual({ kind: 'published', version: 1 });
    expect(first.row).toMatchObject({
      ...A,
      version: 1,
      status: 'published',
      fingerprint: 'f1',
      note: 'why',
      actor: ADA,
    });
    await publish(on, A, 'f2', { source: '{"v":2}' });
    await retire(on, A, 2);
    expect((await publish(on, A, 'f3', { source: '{"v":3}' })).answer).toEqual({ kind: 'published', version: 3 });
    expect((await on.store.findGraph(A, 'newest'))?.version).toBe(3);
    expect(await on.store.findGraph(A, 1)).toMatchObject({ source: '{"v":1}', publishedAt: first.row!.publishedAt });
    expect((await on.store.findGraph(A, 2))?.status).toBe('retired');
    expect(await on.store.findGraph(A, 4)).toBe(undefined);
    expect((await publish(on, B, 'f1')).answer).toEqual({ kind: 'published', version: 1 });
  });

  it('GRAPH-2: what the newest published version is already makes none, and is kept in the audit', async (on) => {
    await publish(on, A, 'f1');
    await publish(on, A, 'f2');
    const kept = entry();
    const again = await publish(on, A, 'f2', {}, { audit: (answer) => ({ ...kept, details: JSON.stringify(answer) }) });
    expect(again).toEqual({ answer: { kind: 'unchanged', version: 2 }, row: undefined });
    const [audited] = await on.store.listAudit({ limit: 10 }, { owner: 'a' });
    expect(audited).toMatchObject({ ...kept, details: JSON.stringify(again.answer), ownerId: 'a', runId: null });
    expect((await publish(on, A, 'f1')).answer).toEqual({ kind: 'published', version: 3 });
    await retire(on, A, 3);
    expect((await publish(on, A, 'f2')).answer).toEqual({ kind: 'unchanged', version: 2 });
    expect(await told(on)).toHaveLength(4);
  });

  it('GRAPH-2: a draft that is published is one no more; one that was saved since is not', async (on) => {
    const { draft } = await save(on, A, { source: '{"v":1}' });
    on.travel(60_000);
    const { row } = await publish(on, A, 'f1', { draft: draft!.id });
    expect(row?.createdAt).toBe(draft?.createdAt);
    expect(row!.publishedAt! > draft!.createdAt).toBe(true);
    expect(await on.store.findGraph(A, 'draft')).toBe(undefined);
    const second = await save(on, A);
    await save(on, A, { source: '{"v":3}' });
    const late = await publish(on, A, 'f2', { draft: second.draft!.id });
    expect(late.answer.kind).toBe('conflict');
    expect((await on.store.findGraph(A, 'draft'))?.source).toBe('{"v":3}');
    // Published from elsewhere: whoever works on the draft goes on.
    await publish(on, A, 'f3');
    expect((await on.store.findGraph(A, 'draft'))?.source).toBe('{"v":3}');
  });

  it('GRAPH-2: those who publish at once get a number each, without gaps', async (on) => {
    const at = [1, 2, 3, 4, 5, 6];
    const answers = await Promise.all(
      at.map((n) => publish(on, A, `f${n}`, { store: n % 2 === 0 ? on.store : on.second })),
    );
    expect(answers.map(({ answer }) => answer.kind === 'published' && answer.version).sort()).toEqual(at);
    const same = await Promise.all([on.store, on.second].map((store) => publish(on, A, 'same', { store })));
    expect(same.map(({ answer }) => answer.kind).sort()).toEqual(['published', 'unchanged']);
  });

  it('GRAPH-2: retiring ends starts, of a version or of all, and nothing else', async (on) => {
    await publish(on, A, 'f1', { source: '{"v":1}' });
    await publish(on, A, 'f2');
    await save(on, A);
    expect((await on.store.startableGraph(A, null))?.version).toBe(2);
    const { answer, rows } = await retire(on, A, 2);
    expect(answer).toEqual({ kind: 'retired', versions: [2], known: true });
    expect(rows).toMatchObject([{ version: 2, status: 'retired' }]);
    expect(rows[0]?.retiredAt === null).toBe(false);
    expect(await on.store.startableGraph(A, null)).toEqual({ ...A, version: 1, fingerprint: 'f1' });
    expect(await on.store.startableGraph(A, 2)).toBe(undefined);
    expect((await retire(on, A, 2)).answer).toEqual({ kind: 'retired', versions: [], known: true });
    expect((await retire(on, A, 9)).answer).toEqual({ kind: 'retired', versions: [], known: false });
    expect((await retire(on, A, null)).answer.versions).toEqual([1]);
    expect(await on.store.startableGraph(A, null)).toBe(undefined);
    expect((await on.store.findGraph(A, 1))?.source).toBe('{"v":1}');
    expect((await on.store.findGraph(A, 'draft'))?.source).toBe(SOURCE);
    const key = { definitionId: 'expenses', version: 2, fingerprint: 'f2' };
    expect(await on.store.graphByKey(key, 'a')).toMatchObject({ ...key, status: 'retired', source: SOURCE });
  });

  it('GRAPH-2: a start finds the own graph before the shared one, the highest version or the one it names', async (on) => {
    await publish(on, SHARED, 's1');
    await publish(on, SHARED, 's2');
    await publish(on, A, 'a1');
    expect(await on.store.startableGraph(A, null)).toEqual({ ...A, version: 1, fingerprint: 'a1' });
    expect(await on.store.startableGraph(A, 2)).toEqual({ ...SHARED, version: 2, fingerprint: 's2' });
    expect(await on.second.startableGraph(B, null)).toEqual({ ...SHARED, version: 2, fingerprint: 's2' });
    expect(await on.second.startableGraph(SHARED, 1)).toEqual({ ...SHARED, version: 1, fingerprint: 's1' });
    expect(await on.store.startableGraph({ ...A, definitionId: 'nope' }, null)).toBe(undefined);
    await publish(on, { ...A, definitionId: 'holidays' }, 'h1');
    const ids = ['holidays', 'nope', 'expenses'];
    expect(await on.store.startableIds(ids, 'a')).toEqual(['expenses', 'holidays']);
    expect(await on.store.startableIds(ids, 'b')).toEqual(['expenses']);
    await retire(on, SHARED, null);
    expect(await on.store.startableIds(ids, 'b')).toEqual([]);
    expect(await on.store.startableIds([], 'a')).toEqual([]);
  });

  it('OWNER-4: nobody comes to a graph of another owner by name, by key or in a list', async (on) => {
    const mine = await publish(on, A, 'f1');
    const draft = await save(on, A);
    const sharedDraft = await save(on, SHARED);
    const shared = await publish(on, SHARED, 's1');
    const key = { definitionId: 'expenses', version: 1, fingerprint: 'f1' };
    expect((await on.store.graphByKey(key, 'a'))?.id).toBe(mine.row!.id);
    expect(await on.store.graphByKey(key, 'b')).toBe(undefined);
    expect(await on.store.graphByKey(key, null)).toBe(undefined);
    expect((await on.store.graphByKey({ ...key, fingerprint: 's1' }, 'b'))?.id).toBe(shared.row!.id);
    // But that there is one is known: who may not see it must not keep it from those who may.
    expect(await on.store.graphExists(key)).toBe(true);
    expect(await on.store.graphExists({ ...key, version: 2 })).toBe(false);
    expect(await on.store.graphExists({ ...key, fingerprint: 'f2' })).toBe(false);
    expect(await on.store.findGraph(B, 1)).toBe(undefined);
    expect((await on.store.findGraph(B, 1, { orShared: true }))?.id).toBe(shared.row!.id);
    expect((await on.store.findGraph(A, 'newest', { orShared: true }))?.id).toBe(mine.row!.id);
    expect(await on.store.findGraph(B, 'draft', { orShared: true })).toBe(undefined);
    const ids = async (scope: Parameters<typeof on.store.listGraphs>[1]): Promise<string[]> =>
      (await on.store.listGraphs({ limit: 10 }, scope)).map(({ id }) => id);
    expect(await ids({ owner: 'a' })).toEqual([shared.row!.id, draft.draft!.id, mine.row!.id]);
    expect(await ids({ owner: 'b' })).toEqual([shared.row!.id]);
    expect(await ids({ owner: null })).toEqual([shared.row!.id, sharedDraft.draft!.id]);
    expect(await ids(EVERYBODY)).toHaveLength(4);
  });

  it('GRAPH-2: lists newest first, by id and status, a page at a time, without what is in them', async (on) => {
    const first = await publish(on, A, 'f1');
    const second = await publish(on, A, 'f2');
    const other = await publish(on, { ...A, definitionId: 'holidays' }, 'f3');
    await retire(on, A, 1);
    const ids = async (given: object): Promise<string[]> =>
      (await on.store.listGraphs({ limit: 10, ...given }, { owner: 'a' })).map(({ id }) => id);
    const [one, two, three] = [first, second, other].map(({ row }) => row!.id);
    expect(await ids({})).toEqual([three, two, one]);
    expect(await ids({ definitionId: 'expenses' })).toEqual([two, one]);
    expect(await ids({ status: ['retired', 'draft'] })).toEqual([one]);
    expect(await ids({ limit: 1, before: three })).toEqual([two]);
    const [row] = await on.store.listGraphs({ limit: 1 }, EVERYBODY);
    expect(Object.keys(row!).includes('source')).toBe(false);
  });

  it('EVT-1: what is told of a graph comes in order, belongs to its owner and to no run', async (on) => {
    await publish(on, A, 'f1');
    await publish(on, A, 'f2');
    await retire(on, A, null);
    await publish(on, SHARED, 's1');
    const rows = await told(on);
    const mine = rows.filter(({ ownerId }) => ownerId === 'a');
    expect(mine.map(({ definitionVersion }) => definitionVersion)).toEqual([1, 2, 1, 2]);
    expect(new Set(mine.map((row) => row.seriesId)).size).toBe(1);
    expect(mine[0]).toMatchObject({
      runId: null,
      definitionKey: null,
      definitionId: 'expenses',
      actor: ADA,
      trace: null,
    });
    expect(JSON.parse(mine[0]!.events)).toEqual([eventOf({ version: 1, note: 'why', ...A } as GraphRow).event]);
    const [shared] = rows.filter(({ ownerId }) => ownerId === null);
    expect(shared?.seriesId === mine[0]!.seriesId).toBe(false);
    await on.store.failOutbox(shared!.id, 0, 'broken', null);
    expect(await on.store.listDeadLetters(10)).toMatchObject([
      { id: shared!.id, runId: null, definitionId: 'expenses' },
    ]);
    const kept = entry({ action: 'replayDeadLetter' });
    expect(
      await on.store.replayDeadLetters([shared!.id], (letter) => ({ ...kept, details: JSON.stringify(letter) })),
    ).toBe(1);
    const [audited] = await on.store.listAudit({ limit: 1 }, EVERYBODY);
    expect(audited).toMatchObject({ runId: null, ownerId: null, action: 'replayDeadLetter' });
  });

  it('AUDIT-1: a change whose entry can not be made is none', async (on) => {
    const audit = (): AuditEntry => {
      throw new Error('no entry');
    };
    await rejection(publish(on, A, 'f1', {}, { audit }));
    expect(await on.store.findGraph(A, 1)).toBe(undefined);
    expect(await told(on)).toEqual([]);
  });
}
