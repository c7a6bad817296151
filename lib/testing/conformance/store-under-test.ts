import type {
  ClaimedJob,
  ClaimRequest,
  ClaimResult,
  DecideSettled,
  ExpiredLease,
  FiredWaits,
  JoinedRecord,
  LeaseLimits,
  LedgerRow,
  NewRun,
  OwnerScope,
  RecordVerdict,
  RunDetails,
  RunHistory,
  StageRunRow,
  StepVerdict,
  StepWrite,
  SuspendRecord,
  SuspendVerdict,
  WakeProbe,
  WorkflowStore,
} from '../../engine/ports/index.js';
import type { EngineEvent, Transition } from '../../engine/state/rows.js';
import { cancelling, leaseOf, newRun } from './builders.js';

/** What an adapter gives a suite for each test: a store that holds nothing yet. */
export interface CreatedStore {
  readonly store: WorkflowStore;
  /** Another process on the same tables; the same one where the adapter has but one. */
  readonly second?: WorkflowStore;
  close(): Promise<void> | void;
}

export const EVERYBODY: OwnerScope = { all: true };

/** Leases go stale after five minutes without a heartbeat, and end after an hour in any case. */
export const LIMITS: LeaseLimits = { staleMs: 300_000, capMs: 3_600_000 };

/** The store of one test, with what tests do to it again and again. */
export class StoreUnderTest {
  readonly store: WorkflowStore;
  readonly second: WorkflowStore;

  constructor(private readonly created: CreatedStore) {
    this.store = created.store;
    this.second = created.second ?? created.store;
  }

  async close(): Promise<void> {
    await this.created.close();
  }

  /** Moves the clock of both processes on. */
  travel(ms: number): void {
    for (const store of new Set([this.store, this.second])) store.clockOffsetMs += ms;
  }

  async start(given: Partial<NewRun> = {}): Promise<NewRun> {
    const run = newRun(given);
    await this.store.createRuns([run]);
    return run;
  }

  claim(given: Partial<ClaimRequest> = {}): Promise<ClaimResult> {
    return this.store.claim({ workerId: 'worker-a', limit: 100, queues: null, unserved: [], ...given });
  }

  /** Claims the next due job. @throws when none is due */
  async claimOne(given: Partial<ClaimRequest> = {}): Promise<ClaimedJob> {
    const [job] = (await this.claim({ ...given, limit: 1 })).claimed;
    if (job === undefined) throw new Error('Nothing was due.');
    return job;
  }

  /** Starts a run and claims its one stage. */
  async startAndClaim(given: Partial<NewRun> = {}): Promise<ClaimedJob> {
    const run = await this.start(given);
    const { claimed } = await this.claim();
    const job = claimed.find((candidate) => candidate.run.id === run.id);
    if (job === undefined) throw new Error(`Run ${run.id} was not due.`);
    return job;
  }

  async isAnythingDue(): Promise<boolean> {
    return (await this.claim({ limit: 1 })).claimed.length > 0;
  }

  /** Settles, again and alone as the slow lane does while somebody else holds a run. */
  async settle(
    records: readonly JoinedRecord[],
    decide: DecideSettled,
    store: WorkflowStore = this.store,
  ): Promise<RecordVerdict[]> {
    const verdicts = await store.settle(records, decide);
    for (const [place, record] of records.entries()) {
      while (verdicts[place]?.verdict === 'busy') {
        [verdicts[place]] = (await store.settle([record], decide, { lockTimeoutMs: 5_000 })) as [RecordVerdict];
      }
    }
    return verdicts;
  }

  async change(runId: string, transition: Transition): Promise<void> {
    await this.store.changeRun(runId, EVERYBODY, () => ({ transition, answer: null }));
  }

  cancel(runId: string, given: Partial<Transition> = {}): Promise<void> {
    return this.change(runId, cancelling(given));
  }

  /** Lets a claimed job's lease go stale, and finds it. */
  async expire(job: ClaimedJob): Promise<ExpiredLease> {
    this.travel(LIMITS.staleMs + 1_000);
    const expired = (await this.store.findExpired(LIMITS, 100)).find(({ token }) => token === job.token);
    if (expired === undefined) throw new Error(`The lease of job ${job.jobId} did not go stale.`);
    return expired;
  }

  async promote(): Promise<number> {
    return (await this.store.promoteDelayed(100, 0)).promoted;
  }

  /** Writes steps, again and alone as long as their rows are locked. */
  async write(...writes: readonly StepWrite[]): Promise<StepVerdict[]> {
    const verdicts = await this.store.writeSteps(writes);
    for (const [place, write] of writes.entries()) {
      while (verdicts[place] === 'busy') [verdicts[place]] = (await this.store.writeSteps([write])) as [StepVerdict];
    }
    return verdicts;
  }

  /** The ledger of a stage run. */
  ledger({ stageRun }: Pick<ClaimedJob, 'stageRun'>): Promise<LedgerRow[]> {
    return this.store.readLedger([stageRun.id]);
  }

  /** One row of it. @throws when there is none */
  async step(job: Pick<ClaimedJob, 'stageRun'>, key: string): Promise<LedgerRow> {
    const row = (await this.ledger(job)).find((candidate) => candidate.key === key);
    if (row === undefined) throw new Error(`Stage run ${job.stageRun.id} has no step ${key}.`);
    return row;
  }

  /** Suspends a stage, again as long as somebody else holds its run. */
  async suspend(record: SuspendRecord, store: WorkflowStore = this.store): Promise<SuspendVerdict> {
    let [verdict] = await store.suspend([record]);
    while (verdict?.verdict === 'busy') [verdict] = await store.suspend([record], { lockTimeoutMs: 5_000 });
    if (verdict === undefined) throw new Error('A record has no verdict.');
    return verdict;
  }

  /** Ends waits whose answer is there, again as long as somebody else holds the run. */
  async answer(job: ClaimedJob): Promise<number> {
    for (;;) {
      const ended = await this.store.answerWaits(leaseOf(job));
      if (ended !== 'busy') return ended;
    }
  }

  /** Ends what is due, and says what that was. */
  fire(aheadMs = 0): Promise<FiredWaits> {
    return this.store.fireDue(100, aheadMs);
  }

  /** Claims the job of this stage run, which has to be the next one due. */
  async claimAgain(job: ClaimedJob): Promise<ClaimedJob> {
    const again = await this.claimOne();
    if (again.stageRun.id !== job.stageRun.id) throw new Error(`Stage run ${job.stageRun.id} was not due.`);
    return again;
  }

  probe(given: Partial<Parameters<WorkflowStore['probe']>[0]> = {}): Promise<WakeProbe> {
    const after = { stuckAfterMs: 900_000, requeueAfterMs: 60_000, eventRetentionMs: 604_800_000 };
    return this.store.probe({ ...LIMITS, ...after, aheadMs: 0, ...given });
  }

  async history(runId: string): Promise<RunHistory> {
    const history = await this.store.history(runId, EVERYBODY);
    if (history === undefined) throw new Error(`There is no run ${runId}.`);
    return history;
  }

  async run(runId: string): Promise<RunDetails> {
    return (await this.history(runId)).run;
  }

  /** The stage run of this key; the newest, where there are several. */
  async stageRun(runId: string, key: string): Promise<StageRunRow> {
    const row = (await this.history(runId)).stageRuns.findLast((candidate) => candidate.key === key);
    if (row === undefined) throw new Error(`Run ${runId} has no stage run ${key}.`);
    return row;
  }

  /** `key STATUS` of all stage runs of a run, in order. */
  async statuses(runId: string): Promise<string[]> {
    return (await this.history(runId)).stageRuns.map(({ key, status }) => `${key} ${status}`);
  }

  /** What the outbox has to tell of a run, in order; it stays there. */
  async events(runId: string): Promise<EngineEvent[]> {
    const slots = await this.store.leaseSlots('reader', 60_000, 16);
    const rows = await this.store.readOutbox('reader', slots, 10_000);
    await this.store.releaseSlots('reader');
    return rows.filter((row) => row.runId === runId).flatMap((row) => JSON.parse(row.events) as EngineEvent[]);
  }

  async eventTypes(runId: string): Promise<string[]> {
    return (await this.events(runId)).map(({ type }) => type);
  }
}

/** Whether a promise rejects, with what. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was not refused.');
}
