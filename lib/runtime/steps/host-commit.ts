import type {
  HostTransactions,
  Lease,
  LeaseState,
  StepVerdict,
  StepWrite,
  WorkflowStore,
} from '../../engine/ports/index.js';
import type { AttemptWrite } from '../../engine/steps/index.js';
import { InvalidStepError } from '../../errors/index.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { GivenUp, persist } from '../background/persistence.js';
import { SpoiltTransactions } from '../background/spoilt-transactions.js';
import type { CrashPoint } from './step-crashes.js';
import type { StepWriter } from './step-writer.js';

export interface HostCommitParts {
  readonly store: Pick<WorkflowStore, 'writeWithin' | 'extendLeases' | 'isTransient'>;
  readonly transactions: HostTransactions;
  readonly writer: StepWriter;
  readonly outages: Outages;
  readonly pauses: Pauses;
}

export interface HostCommitRequest {
  readonly lease: Lease;
  /** Whose run it is. */
  readonly owner: string | null;
  readonly body: (manager: unknown) => Promise<AttemptWrite | undefined>;
  /** Where a test lets its process die, asked once the body has run. */
  readonly crash: (write: AttemptWrite) => CrashPoint | undefined;
}

export interface HostCommitted {
  readonly verdict: StepVerdict;
  readonly crash: CrashPoint | undefined;
}

/** How far one transaction came, for what its failure means. */
type Phase = 'begin' | 'body' | 'write' | 'commit';

const SERVICE = 'opening transactions of the host';
const ROLLED_BACK = new Error('Rolled back.');

/**
 * Transactions of the host's for one step, each with its row as the last write, until one commits (TX-3).
 *
 * What a failure means depends on when it came. Before the body: nothing happened, the database is waited for. In the
 * body: the step failed. At the write: rolled back, and if only for now (a deadlock, a connection that broke) the whole is done
 * again, but not for ever. At the commit nobody knows: the ledger is read. A row that stands there was committed; one that does not may still be,
 * where the server hasn't heard that the connection is gone, but then it holds the run, and the next try waits behind it and
 * finds its row.
 */
export class HostCommit {
  readonly #spoilt: SpoiltTransactions;

  constructor(private readonly parts: HostCommitParts) {
    this.#spoilt = new SpoiltTransactions(parts.pauses);
  }

  /** @throws what the body or the commit failed with, after the rollback; GivenUp when the process ends */
  async run({ lease, owner, body, crash }: HostCommitRequest): Promise<HostCommitted> {
    const { transactions, store, outages } = this.parts;
    let phase: Phase = 'begin';
    let verdict: StepVerdict = 'not-fenced';
    let write: StepWrite | undefined;
    let dies: CrashPoint | undefined;
    try {
      await transactions.run(owner, async (manager, transaction) => {
        phase = 'body';
        const given = await body(manager);
        dies = given && crash(given);
        if (!given || dies === 'unrecorded') throw ROLLED_BACK;
        phase = 'write';
        write = { ...given, lease };
        verdict = await store.writeWithin(write, transaction);
        if (verdict !== 'written') throw ROLLED_BACK;
        phase = 'commit';
      });
      outages.recovered(SERVICE);
    } catch (error) {
      if (error !== ROLLED_BACK) verdict = await this.#judge(phase, error, write);
      else if (write && verdict === 'not-fenced') await this.#refuseEnded(lease);
    }
    return { verdict, crash: dies };
  }

  /** What a transaction that failed is to its step. */
  async #judge(phase: Phase, error: unknown, write: StepWrite | undefined): Promise<StepVerdict> {
    const { store, outages, pauses } = this.parts;
    if (phase === 'body') throw error;
    if (phase === 'commit' && (await this.#stands(write!))) return 'settled';
    if (!store.isTransient(error)) throw error;
    if (phase === 'begin') {
      this.#spoilt.forget();
      await pauses.sleep(outages.failed(SERVICE, error));
      if (pauses.over) throw new GivenUp(`${SERVICE} gave up: the database did not answer`, { cause: error });
    } else await this.#spoilt.again(error);
    return 'busy';
  }

  async #stands(write: StepWrite): Promise<boolean> {
    const rows = await this.parts.writer.read(write.lease.stageRunId);
    return rows.some((row) => write.op === 'finish' && row.key === write.key && row.status === 'completed');
  }

  /** The fence held against nobody else: the transaction itself has ended its run, and took that back with all the rest. */
  async #refuseEnded(lease: Lease): Promise<void> {
    const states = await persist<Map<string, LeaseState>>(
      'reading leases',
      () => this.parts.store.extendLeases([lease]),
      this.parts,
    );
    if (states.get(lease.jobId) !== 'held') return;
    const message = 'ended the run that it belongs to; that can only be done outside its transactions';
    throw new InvalidStepError({ what: 'ctx.transaction', problems: [{ path: 'fn', message }] });
  }
}
