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
 * A database that is away is waited for. A write whose answer was lost is made again, and then told that it stands already.
 */
export class StepWriter {
  readonly #writes: GroupedCalls<StepWrite, StepVerdict>;
  readonly #reads: GroupedCalls<string, readonly LedgerRow[]>;

  constructor(private readonly parts: StepWriterParts) {
    const { store } = parts;
    this.#writes = new GroupedCalls({
      call: (writes) => persist('writing steps', () => store.writeSteps(writes), parts),
      most: GROUP_SIZE,
      // One value that can't be stored fails nobody else's step.
      isOnes: (error) => store.isDataError(error),
    });
    this.#reads = new GroupedCalls({ call: (ids) => this.#read(ids), most: GROUP_SIZE });
  }

  /** @throws GivenUp when the process ends; what the store throws about this very write */
  write(write: StepWrite): Promise<StepVerdict> {
    return this.#writes.ask(write);
  }

  /** @throws GivenUp when the process ends */
  read(stageRunId: string): Promise<readonly LedgerRow[]> {
    return this.#reads.ask(stageRunId);
  }

  async #read(stageRunIds: readonly string[]): Promise<readonly (readonly LedgerRow[])[]> {
    const ids = [...new Set(stageRunIds)];
    const rows = await persist('reading steps', () => this.parts.store.readLedger(ids), this.parts);
    const byStageRun = new Map<string, LedgerRow[]>(ids.map((id) => [id, []]));
    for (const row of rows) byStageRun.get(row.stageRunId)?.push(row);
    return stageRunIds.map((id) => byStageRun.get(id)!);
  }
}
