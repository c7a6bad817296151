import type { GraphChange, GraphDecision, GraphHead } from '../ports/graph-store.js';

/** Somebody was faster: the draft is another one now than the caller has read, or there is none any more. */
export interface DraftConflict {
  readonly kind: 'conflict';
  /** The draft that stands now; null: none. */
  readonly draft: string | null;
}

export type DraftAnswer = DraftConflict | { readonly kind: 'saved' };
export type PublishAnswer =
  | DraftConflict
  | { readonly kind: 'published'; readonly version: number }
  /** The newest published version is this very graph. */
  | { readonly kind: 'unchanged'; readonly version: number };
export interface RetireAnswer {
  readonly kind: 'retired';
  /** Those that were published until now. */
  readonly versions: readonly number[];
  /** Whether there is such a version at all, or any. */
  readonly known: boolean;
}

/** @param expected the draft that the caller has read, null where he found none; undefined: whatever there is is written over */
export function decideDraft(
  { draft }: GraphHead,
  saved: Omit<Extract<GraphChange, { kind: 'draft' }>, 'kind'>,
  expected: string | null | undefined,
): GraphDecision<DraftAnswer> {
  if (expected !== undefined && expected !== draft) return { change: null, answer: { kind: 'conflict', draft } };
  return { change: { kind: 'draft', ...saved }, answer: { kind: 'saved' } };
}

/**
 * The next number is the highest there ever was and one more, retired ones counted.
 *
 * @param given with the draft that it was read from, which must still stand; null: it comes from elsewhere
 */
export function decidePublish(
  { draft, versions }: GraphHead,
  given: Omit<Extract<GraphChange, { kind: 'publish' }>, 'kind' | 'version'>,
): GraphDecision<PublishAnswer> {
  if (given.draft !== null && given.draft !== draft) return { change: null, answer: { kind: 'conflict', draft } };
  const newest = versions.findLast(({ status }) => status === 'published');
  if (newest?.fingerprint === given.fingerprint) {
    return { change: null, answer: { kind: 'unchanged', version: newest.version } };
  }
  const version = (versions.at(-1)?.version ?? 0) + 1;
  return { change: { kind: 'publish', ...given, version }, answer: { kind: 'published', version } };
}

/** @param version null: all of them */
export function decideRetire({ versions }: GraphHead, version: number | null): GraphDecision<RetireAnswer> {
  const meant = versions.filter((one) => version === null || one.version === version);
  const retired = meant.filter(({ status }) => status === 'published').map((one) => one.version);
  return {
    change: retired.length === 0 ? null : { kind: 'retire', versions: retired },
    answer: { kind: 'retired', versions: retired, known: meant.length > 0 },
  };
}
