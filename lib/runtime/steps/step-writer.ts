import type { LedgerRow, StepVerdict, StepWrite, WorkflowStore } from '../../engine/ports/index.js';
import { GroupedCalls } from '../background/grouped-calls.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { persist } from '../background/persistence.js';

export interface StepWriterParts {
  readonly store: Pick<WorkflowStore, 'writeSteps' | 'readLedger' | 'isTransient' | 'isDataError'>;
  readonly outages: Outages;
  readonly pauses: Pauses;
}

/** Writes, or ledgers, in one statement. */
const GROUP_SIZE = 200;

/**
 * The way to the step ledger for all bodies of this process: their writes go in groups, one statement and one commit for
 * whatever came together, and so do their reads.
 *
 * A database that is away is waited for. A write whose answer was lost is made again; that the first one had come through is then
 * read off the row.
 */
export class StepWriter {
  readonly #writes = new GroupedCalls<StepWrite, StepVerdict>((writes) => this.#write(writes), GROUP_SIZE);
  readonly #reads = new GroupedCalls<string, readonly LedgerRow[]>((ids) => this.#read(ids), GROUP_SIZE);

  constructor(private readonly parts: StepWriterParts) {}

  /** @throws GivenUp when the process ends; what the store throws about this very write */
  write(write: StepWrite): Promise<StepVerdict> {
    return this.#writes.ask(write);
  }

  /** @throws GivenUp when the process ends */
  read(stageRunId: string): Promise<readonly LedgerRow[]> {
    return this.#reads.ask(stageRunId);
  }

  async #write(writes: readonly StepWrite[]): Promise<readonly StepVerdict[]> {
    const { store } = this.parts;
    let tries = 0;
    try {
      const verdicts = await persist('writing steps', () => (tries++, store.writeSteps(writes)), this.parts);
      return tries === 1 ? verdicts : await this.#judge(writes, verdicts);
    } catch (error) {
      // One value that can't be stored fails nobody else's step.
      if (writes.length === 1 || !store.isDataError(error)) throw error;
    }
    const settled = await Promise.allSettled(writes.map((write) => this.#write([write])));
    return settled.map((alone) => {
      if (alone.status === 'rejected') throw alone.reason;
      return alone.value[0]!;
    });
  }

  /** A finish that finds its row ended under its own token is the one that ended it. */
  async #judge(writes: readonly StepWrite[], verdicts: readonly StepVerdict[]): Promise<readonly StepVerdict[]> {
    const doubtful = writes.filter((write, at) => write.op === 'finish' && verdicts[at] !== 'written');
    if (doubtful.length === 0) return verdicts;
    const ids = [...new Set(doubtful.map(({ lease }) => lease.stageRunId))];
    const rows = await persist('reading steps', () => this.parts.store.readLedger(ids), this.parts);
    const byKey = new Map(rows.map((row) => [`${row.stageRunId} ${row.key}`, row]));
    return writes.map((write, at) => {
      if (write.op !== 'finish' || verdicts[at] === 'written') return verdicts[at]!;
      const row = byKey.get(`${write.lease.stageRunId} ${write.key}`);
      return row && row.status !== 'running' && row.token === write.lease.token ? 'written' : verdicts[at]!;
    });
  }

  async #read(stageRunIds: readonly string[]): Promise<readonly (readonly LedgerRow[])[]> {
    const ids = [...new Set(stageRunIds)];
    const rows = await persist('reading steps', () => this.parts.store.readLedger(ids), this.parts);
    const byStageRun = new Map<string, LedgerRow[]>(ids.map((id) => [id, []]));
    for (const row of rows) byStageRun.get(row.stageRunId)?.push(row);
    return stageRunIds.map((id) => byStageRun.get(id)!);
  }
}
