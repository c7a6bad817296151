import type {
  DecideSettled,
  JoinedRecord,
  LinearRecord,
  RecordOptions,
  RecordVerdict,
  SuspendRecord,
  SuspendVerdict,
  WorkflowStore,
} from '../../engine/ports/index.js';
import { GivenUp, persist } from '../background/persistence.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import type { RecordedWait, RecordItem } from './record-item.js';

export interface RecordWriterParts {
  readonly store: Pick<WorkflowStore, 'record' | 'settle' | 'suspend' | 'isTransient'>;
  /** Asked inside `settle`, under the run's lock. */
  readonly decide: DecideSettled;
  readonly outages: Outages;
  readonly pauses: Pauses;
}

/** A verdict of any lane; `wait` only where the stage is to wait. */
type LaneVerdict = RecordVerdict & { readonly wait?: RecordedWait };

/** What a statement said of one outcome; `refused` carries what the store threw about it. */
export type WriteAnswer =
  LaneVerdict | { readonly verdict: 'refused'; readonly error: unknown } | { readonly verdict: 'given-up' };

/**
 * Writes a group of outcomes of one lane in one statement, for as long as it takes the database to answer: the same group
 * with the same ids, so that a second write of what was committed only meets its own fence.
 *
 * A group that the store refuses is written row by row: one value that can't be stored fails no one else's outcome.
 */
export class RecordWriter {
  constructor(private readonly parts: RecordWriterParts) {}

  /** Answers stand in the order of `items`. Never rejects. */
  async write(items: readonly RecordItem[], options?: RecordOptions): Promise<readonly WriteAnswer[]> {
    try {
      const verdicts = await persist('recording outcomes', () => this.#statement(items, options), this.parts);
      // An adapter's fault; outcomes without a verdict would wait for ever.
      if (verdicts.length !== items.length)
        throw new Error(`${items.length} outcomes got ${verdicts.length} verdicts.`);
      return verdicts;
    } catch (error) {
      if (error instanceof GivenUp) return items.map(() => ({ verdict: 'given-up' }));
      if (items.length === 1) return [{ verdict: 'refused', error }];
    }
    const answers: WriteAnswer[] = [];
    for (const item of items) answers.push(...(await this.write([item], options)));
    return answers;
  }

  async #statement(items: readonly RecordItem[], options?: RecordOptions): Promise<LaneVerdict[]> {
    const { store, decide } = this.parts;
    if (items[0]!.entry.lane === 'suspend') {
      const verdicts = await store.suspend(
        items.map(({ entry }) => entry.record as SuspendRecord),
        options,
      );
      return verdicts.map(waiting);
    }
    if (items[0]!.entry.lane === 'linear') {
      return store.record(
        items.map(({ entry }) => entry.record as LinearRecord),
        options,
      );
    }
    return store.settle(
      items.map(({ entry }) => entry.record as JoinedRecord),
      decide,
      options,
    );
  }
}

function waiting(verdict: SuspendVerdict): LaneVerdict {
  if (verdict.verdict !== 'recorded') return verdict;
  const { suspended, dueInMs } = verdict;
  return { verdict: 'recorded', handedOff: false, finished: null, wait: { suspended, dueInMs } };
}
