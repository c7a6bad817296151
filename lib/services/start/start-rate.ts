import { roomFor } from '../../engine/limits/index.js';
import type { JoinedTransaction, NewRun, StartPlace, WorkflowStore } from '../../engine/ports/index.js';
import { decideRefusedStart } from '../../engine/state/decide.js';
import type { StartableDefinition } from '../engine-port.js';
import { runFailure } from '../../engine/state/enter-node.js';

export interface RatedStarts {
  /** In the same order; what the rate refuses has ended already, and holds no key. */
  readonly runs: readonly NewRun[];
  /** Ids of those. */
  readonly refused: ReadonlySet<string>;
}

type RateStore = Pick<WorkflowStore, 'heldKeys' | 'countStarts'>;

/**
 * Starts of a definition that has a rate (LIMIT-3). What repeats a living start key counts for nothing: it finds the first run,
 * whatever the rate says. A key that somebody takes between look and write may cost a place too many, never one too few.
 * What is found out for a place stays so, for whoever asks.
 *
 * Without a rate nothing is asked.
 */
export async function rateStarts(
  store: RateStore,
  runs: readonly NewRun[],
  { compiled, rateName = compiled.id }: Pick<StartableDefinition, 'compiled' | 'rateName'>,
  { transaction, place }: { readonly transaction?: JoinedTransaction; readonly place?: StartPlace } = {},
): Promise<RatedStarts> {
  const perMinute = compiled.settings.startsPerMinute;
  const [first] = runs;
  if (perMinute === null || !first) return { runs, refused: new Set() };
  const wanted = await freshStarts(store, runs, transaction);
  if (wanted.length === 0) return { runs, refused: new Set() };
  const { counted } = await store.countStarts(rateName, wanted.length, place);
  const over = new Set(wanted.slice(roomFor(wanted.length, counted, perMinute)).map(nameOf));
  const refused = new Set(runs.filter((run) => over.has(nameOf(run))).map(({ id }) => id));
  return { runs: runs.map((run) => (refused.has(run.id) ? refuse(run, perMinute) : run)), refused };
}

/** One of each key, and only of those that no run holds. */
async function freshStarts(
  store: RateStore,
  runs: readonly NewRun[],
  transaction: JoinedTransaction | undefined,
): Promise<NewRun[]> {
  const fresh = [...new Map([...runs].reverse().map((run) => [nameOf(run), run])).values()].reverse();
  const keyed = fresh.filter(({ idempotency }) => idempotency !== null);
  const held = await store.heldKeys(
    keyed.map(({ idempotency }) => idempotency!.digest),
    transaction,
  );
  const known = new Set(keyed.filter((_, at) => held[at]));
  return fresh.filter((run) => !known.has(run));
}

/**
 * A key of a caller stays free: whoever starts it later, with the same key, gets a run that runs. How often others started is nobody's to know:
 * the count is of all owners.
 */
function refuse(run: NewRun, perMinute: number): NewRun {
  const failure = runFailure(
    'START_RATE_EXCEEDED',
    { where: run.definitionId, actual: perMinute + 1, limit: 'limits.startsPerMinute', value: perMinute },
    null,
  );
  return {
    ...run,
    idempotency: null,
    delayMs: 0,
    startAt: null,
    deadlineMs: null,
    transition: decideRefusedStart(failure),
  };
}

/** Runs without a key are each their own. */
function nameOf({ id, idempotency }: NewRun): string {
  return idempotency?.digest.toString('base64') ?? id;
}
