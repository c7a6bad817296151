import type * as port from '../../engine/ports/graph-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { writeAudit } from './audit.js';
import { tellOfDefinition } from './outbox-writes.js';
import type { MemorySession } from './session.js';
import { putTriggers } from './triggers.js';
import { instant } from './views.js';

/** A draft or a version of a graph; its key changes with a draft's id, so that saving one writes another. */
export interface GraphRecord extends port.GraphName {
  readonly id: string;
  readonly version: number | null;
  readonly fingerprint: string | null;
  readonly source: string;
  readonly note: string | null;
  readonly actor: string | null;
  readonly createdAt: number;
  readonly savedAt: number;
  readonly publishedAt: number | null;
  status: port.GraphStatus;
  retiredAt: number | null;
}

export const graphGroup = ({ definitionId }: Pick<port.GraphName, 'definitionId'>): string => definitionId;

/** Drafts first, then by number, as they were published. */
const inOrder = (a: GraphRecord, b: GraphRecord): number => (a.version ?? 0) - (b.version ?? 0);

const isOf =
  ({ ownerId }: Pick<port.GraphName, 'ownerId'>) =>
  (row: GraphRecord): boolean =>
    row.ownerId === ownerId;

export function changeGraph<R>(
  session: MemorySession,
  name: port.GraphName,
  decide: (head: port.GraphHead) => port.GraphDecision<R>,
  { actor, audit, event, triggers }: port.GraphChangeOptions<R>,
): port.GraphChanged<R> {
  const { db } = session;
  const theirs = db.graphsOf.of(graphGroup(name)).filter(isOf(name)).sort(inOrder);
  const draft = theirs.find(({ version }) => version === null);
  const versions = theirs.flatMap(({ version, status, fingerprint }) =>
    version === null || fingerprint === null ? [] : [{ version, status, fingerprint }],
  );
  const { change, answer } = decide({ draft: draft?.id ?? null, versions });
  const records = change === null ? [] : write(session, name, change, { theirs, draft, actor });
  if (triggers && change !== null && change.kind !== 'draft') putInForce(session, name, triggers);
  const rows = records.map(viewOf);
  if (event && change?.kind !== 'draft') {
    for (const row of rows) {
      const told = event(row);
      tellOfDefinition(session, told.seriesId, { ...row, actor }, [told.event]);
    }
  }
  if (audit) writeAudit(session, { ...audit(answer), runId: null, ownerId: name.ownerId });
  return { answer, rows };
}

/** The triggers of the version that starts are made on now. */
function putInForce(
  session: MemorySession,
  name: port.GraphName,
  triggers: NonNullable<port.GraphChangeOptions<unknown>['triggers']>,
): void {
  const published = session.db.graphsOf.of(graphGroup(name)).filter(isOf(name));
  const newest = published
    .filter(({ status }) => status === 'published')
    .sort(inOrder)
    .at(-1);
  const { ownerId, definitionId } = name;
  const inForce = newest ? triggers(newest.source) : [];
  putTriggers(session, { ownerId, definitionId, definitionVersion: newest?.version ?? 0, triggers: inForce });
}

interface Found {
  readonly theirs: readonly GraphRecord[];
  readonly draft: GraphRecord | undefined;
  readonly actor: string | null;
}

function write(
  { db, now }: MemorySession,
  { ownerId, definitionId }: port.GraphName,
  change: port.GraphChange,
  { theirs, draft, actor }: Found,
): GraphRecord[] {
  if (change.kind === 'retire') {
    const meant = theirs.filter(({ version, status }) => status === 'published' && change.versions.includes(version!));
    for (const row of meant) db.graphs.patch(row, { status: 'retired', retiredAt: now });
    return meant;
  }
  const { id, source, note } = change;
  const saved = { id, ownerId, definitionId, source, note, actor, savedAt: now, retiredAt: null };
  if (change.kind === 'draft') {
    if (draft) db.graphs.remove(draft);
    const createdAt = draft?.createdAt ?? now;
    const none = { version: null, fingerprint: null, publishedAt: null } as const;
    return [db.graphs.insert({ ...saved, ...none, status: 'draft', createdAt })];
  }
  const from = draft?.id === change.draft ? draft : undefined;
  if (from) db.graphs.remove(from);
  const { version, fingerprint } = change;
  const createdAt = from?.createdAt ?? now;
  return [db.graphs.insert({ ...saved, version, fingerprint, publishedAt: now, status: 'published', createdAt })];
}

/** The owner's own before the shared one. */
function candidates({ db }: MemorySession, name: port.GraphName, orShared: boolean): GraphRecord[] {
  const rows = db.graphsOf.of(graphGroup(name));
  const newestFirst = (owned: readonly GraphRecord[]): GraphRecord[] => [...owned].sort((a, b) => inOrder(b, a));
  const own = newestFirst(rows.filter(isOf(name)));
  return orShared && name.ownerId !== null ? [...own, ...newestFirst(rows.filter(isOf({ ownerId: null })))] : own;
}

export function findGraph(
  session: MemorySession,
  name: port.GraphName,
  which: 'draft' | 'newest' | number,
  { orShared = false }: { readonly orShared?: boolean } = {},
): port.GraphDetails | undefined {
  const found = candidates(session, name, orShared).find(({ version, status, ownerId }) => {
    if (which === 'draft') return version === null && ownerId === name.ownerId;
    return which === 'newest' ? status === 'published' : version === which;
  });
  return found && { ...viewOf(found), source: found.source };
}

export function startableGraph(
  session: MemorySession,
  name: port.GraphName,
  wanted: number | null,
): (port.GraphKey & port.GraphName) | undefined {
  const found = candidates(session, name, true).find(
    ({ version, status }) => status === 'published' && (wanted === null || version === wanted),
  );
  if (!found) return undefined;
  const { ownerId, definitionId, version, fingerprint } = found;
  return { ownerId, definitionId, version: version!, fingerprint: fingerprint! };
}

export function startableIds(
  session: MemorySession,
  definitionIds: readonly string[],
  ownerId: string | null,
): string[] {
  return [...new Set(definitionIds)]
    .filter((definitionId) => startableGraph(session, { definitionId, ownerId }, null) !== undefined)
    .sort();
}

export function graphByKey(
  session: MemorySession,
  key: port.GraphKey,
  ownerId: string | null,
): port.GraphDetails | undefined {
  const { definitionId } = key;
  const found = candidates(session, { definitionId, ownerId }, true).find(
    ({ version, fingerprint }) => version === key.version && fingerprint === key.fingerprint,
  );
  return found && { ...viewOf(found), source: found.source };
}

export function graphExists({ db }: MemorySession, key: port.GraphKey): boolean {
  return [...db.graphs.all()].some(
    ({ definitionId, version, fingerprint }) =>
      definitionId === key.definitionId && version === key.version && fingerprint === key.fingerprint,
  );
}

/** Newest first. */
export function listGraphs({ db }: MemorySession, filter: port.GraphFilter, scope: OwnerScope): port.GraphRow[] {
  const { definitionId, status, before, limit } = filter;
  const found = [...db.graphs.all()].filter(
    (row) =>
      ('all' in scope || row.ownerId === scope.owner || (row.ownerId === null && row.version !== null)) &&
      (definitionId === undefined || row.definitionId === definitionId) &&
      (status === undefined || status.includes(row.status)) &&
      (before === undefined || row.id < before),
  );
  found.sort((a, b) => (a.id < b.id ? 1 : -1));
  return found.slice(0, limit).map(viewOf);
}

function viewOf({ source: _source, createdAt, savedAt, publishedAt, retiredAt, ...row }: GraphRecord): port.GraphRow {
  const maybe = (at: number | null): string | null => (at === null ? null : instant(at));
  return {
    ...row,
    createdAt: instant(createdAt),
    savedAt: instant(savedAt),
    publishedAt: maybe(publishedAt),
    retiredAt: maybe(retiredAt),
  };
}
