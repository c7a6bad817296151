import type {
  DecideSettled,
  Fence,
  HostTransactions,
  JoinedRecord,
  LinearRecord,
  RecordVerdict,
  WorkflowStore,
} from '../../engine/ports/index.js';
import { InvalidStepError } from '../../errors/index.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { GivenUp, persist } from '../background/persistence.js';
import { SpoiltTransactions } from '../background/spoilt-transactions.js';
import type { Attempt, HostWrite } from '../execution/attempt.js';
import type { RecordedWithin } from '../execution/attempt-end.js';
import type { CompletedOutcome } from '../execution/stage-execution.js';
import { asInsideStep } from '../steps/attempt-replay.js';
import { fencesToRead, judgeFence } from './lost-answer.js';
import type { OutcomeRecords } from './outcome-records.js';
import { RecordItem, type RecordEntry, type RecordResult } from './record-item.js';
import type { Recorder } from './recorder.js';
import { unstorable } from './unstorable.js';

export interface HostRecordParts {
  readonly store: Pick<WorkflowStore, 'recordWithin' | 'readFences' | 'isTransient' | 'isDataError'>;
  readonly transactions: HostTransactions;
  readonly records: OutcomeRecords;
  readonly recorder: Recorder;
  /** Asked inside `recordWithin`, under the run's lock. */
  readonly decide: DecideSettled;
  readonly outages: Outages;
  readonly pauses: Pauses;
}

/** How far one transaction came, for what its failure means. */
type Phase = 'begin' | 'body' | 'write' | 'commit';

/** One transaction that failed, and what is known of those before it. */
interface Failed {
  readonly phase: Phase;
  readonly error: unknown;
  readonly spoilt: SpoiltTransactions;
}

type Within = Exclude<RecordEntry, { lane: 'suspend' }>;

const SERVICE = 'opening transactions of the host';
const ROLLED_BACK = new Error('Rolled back.');
const WHAT = 'ctx.recordWith';

/**
 * One transaction of the host's with a stage's outcome as its last write (TX-3): a group of its own, whatever else becomes ready.
 *
 * What a failure means depends on when it came. Before the host's writes: nothing happened, the database is waited for. In them: the
 * attempt fails. At the outcome: rolled back, and done again where it may pass (a deadlock, a connection that broke), but not for ever. At the commit
 * nobody knows: the rows are read, as after any lost answer, and an outcome that stands there was committed; one that does not may still
 * be, but then it holds the run, and the next try waits behind it and meets its own fence.
 */
export class HostRecord {
  constructor(private readonly parts: HostRecordParts) {}

  /** @throws what the host's writes or the commit failed with, after the rollback */
  async record(attempt: Attempt, outcome: CompletedOutcome): Promise<RecordedWithin> {
    const { records, recorder, pauses } = this.parts;
    const entry = records.entryOf(attempt, outcome, null);
    // Deciding what follows has failed: a failure takes nothing of the host's along.
    if (entry.lane === 'suspend' || entry.record.outcome.kind !== 'completed')
      return { entry, result: await recorder.record(attempt, entry) };
    const spoilt = new SpoiltTransactions(pauses);
    for (;;) {
      const done = await this.#try(attempt, entry, spoilt);
      if (done !== 'again') {
        if (done.result.kind === 'recorded' && done.entry === entry) recorder.wrote(entry, done.result);
        return done;
      }
      if (pauses.over || attempt.over) return { entry, result: { kind: 'given-up' } };
    }
  }

  async #try(attempt: Attempt, entry: Within, spoilt: SpoiltTransactions): Promise<RecordedWithin | 'again'> {
    const { transactions, store, decide, outages } = this.parts;
    let phase: Phase = 'begin';
    let verdict: RecordVerdict | undefined;
    try {
      await transactions.run(
        attempt.job.run.ownerId,
        async (manager, transaction) => {
          phase = 'body';
          await inOrder(attempt.writes ?? [], manager);
          phase = 'write';
          attempt.recording = true;
          verdict = await store.recordWithin(entry.record as LinearRecord | JoinedRecord, decide, transaction);
          if (verdict.verdict !== 'recorded') throw ROLLED_BACK;
          phase = 'commit';
        },
        WHAT,
      );
      outages.recovered(SERVICE);
      return { entry, result: recordedResult(verdict!) };
    } catch (error) {
      if (error !== ROLLED_BACK) return this.#judge(attempt, entry, { phase, error, spoilt });
      return this.#unfenced(attempt, entry);
    }
  }

  /** What a transaction that failed is to its stage. */
  async #judge(attempt: Attempt, entry: Within, { phase, error, spoilt }: Failed): Promise<RecordedWithin | 'again'> {
    const { store, outages, pauses, recorder } = this.parts;
    if (phase === 'body') throw error;
    if (phase === 'commit') {
      const result = await this.#fenceOf(attempt, entry);
      if (result !== 'undecided') return { entry, result };
    }
    if (phase === 'write' && store.isDataError(error)) {
      const replacement = unstorable(new RecordItem(attempt, entry), error, true)!;
      return { entry: replacement, result: await recorder.record(attempt, replacement) };
    }
    attempt.recording = false;
    if (!store.isTransient(error)) throw error;
    if (phase === 'begin') {
      spoilt.forget();
      await pauses.sleep(outages.failed(SERVICE, error));
      if (pauses.over) throw new GivenUp(`${SERVICE} gave up: the database did not answer`, { cause: error });
    } else await spoilt.again(error);
    return 'again';
  }

  /** The fence did not hold. Where it did against nobody else, the host's writes have ended their own run, which is undone now. */
  async #unfenced(attempt: Attempt, entry: Within): Promise<RecordedWithin> {
    const result = await this.#fenceOf(attempt, entry);
    if (result !== 'undecided') return { entry, result };
    attempt.recording = false;
    const message = 'ended the run that it belongs to; that can only be done outside its transactions';
    throw new InvalidStepError({ what: WHAT, problems: [{ path: 'fn', message }] });
  }

  async #fenceOf(attempt: Attempt, entry: Within): Promise<RecordResult | 'undecided'> {
    const item = new RecordItem(attempt, entry);
    const read = await persist('reading fences', () => this.parts.store.readFences(fencesToRead(item)), this.parts);
    return judgeFence(item, new Map<string, Fence>(read.map((fence) => [fence.stageRunId, fence])));
  }
}

/** All of them, in order; durable calls in them are refused. */
async function inOrder(writes: readonly HostWrite[], manager: unknown): Promise<void> {
  for (const write of writes) await asInsideStep('recordWith', async () => write(manager));
}

function recordedResult(verdict: RecordVerdict): RecordResult {
  const finished = verdict.verdict === 'recorded' ? verdict.finished : null;
  return { kind: 'recorded', handedOff: false, finished };
}
