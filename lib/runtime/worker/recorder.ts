import type { Fence, RecordOptions, WorkflowStore } from '../../engine/ports/index.js';
import { persist } from '../background/persistence.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import type { Attempt } from '../execution/attempt.js';
import { fencesToRead, judgeFence } from './lost-answer.js';
import { RecordItem, type RecordEntry, type RecordResult } from './record-item.js';
import { RecordQueue, RunsInFlight } from './record-queue.js';
import { RecordWriter, type RecordWriterParts, type WriteAnswer } from './record-writer.js';
import { unstorable } from './unstorable.js';

/** Outcomes in one statement, and statements of the linear lane under way at once. */
const GROUP_SIZE = 100;
const LINEAR_STATEMENTS = 3;
/** How long an outcome of the slow lane waits for its run's lock, and the pause before it tries again. */
const SLOW_LOCK_TIMEOUT_MS = 1_000;
const SLOW_PAUSE_MS = 25;
/** How often the store may refuse one outcome for an unknown reason before a failure is recorded in its place. */
const REFUSALS = 5;

export interface RecorderParts extends RecordWriterParts {
  readonly store: Pick<WorkflowStore, 'record' | 'settle' | 'suspend' | 'readFences' | 'isTransient' | 'isDataError'>;
  readonly log: RuntimeLog;
  /** Called once a statement with the outcomes that it wrote, before their attempts go on. */
  readonly onRecorded: (recorded: readonly RecordedOutcome[]) => void;
}

export interface RecordedOutcome {
  readonly entry: RecordEntry;
  readonly result: Extract<RecordResult, { kind: 'recorded' }>;
}

/**
 * Writes outcomes in groups: whatever became ready in one turn of the event loop is one statement and one commit.
 *
 * Four lanes. Linear outcomes, whose consequence is known, up to three statements at once; joined ones, decided under the
 * lock, and stages that wait, one after another; and a slow lane for runs whose lock somebody else holds, one by one, so that a host's long
 * transaction holds up nobody but its own run. Outcomes of one run are never in two statements at a time.
 *
 * An outcome is written or known to be void before its promise resolves: a database that is away is waited for, a lost
 * answer is read again, a value that can't be stored becomes a failure that can. Only `end` makes it give up.
 */
export class Recorder {
  readonly #linear = new RecordQueue();
  readonly #joined = new RecordQueue();
  readonly #suspending = new RecordQueue();
  readonly #slow: RecordItem[] = [];
  /** How many outcomes of a run are in the slow lane: later ones follow them there. */
  readonly #slowRuns = new Map<string, number>();
  readonly #inFlight = new RunsInFlight();
  readonly #writer: RecordWriter;
  #linearStatements = 0;
  readonly #working = new Set<RecordQueue>();
  #slowWorking = false;
  #scheduled = false;

  constructor(private readonly parts: RecorderParts) {
    this.#writer = new RecordWriter(parts);
  }

  /** Hands an outcome over. Resolves when it is written, or known to be void. Never rejects. */
  record(attempt: Attempt | null, entry: RecordEntry): Promise<RecordResult> {
    const item = new RecordItem(attempt, entry);
    this.#enqueue(item);
    return item.result;
  }

  /** Tells of an outcome that was written elsewhere, within a transaction of the host's. */
  wrote(entry: RecordEntry, result: RecordedOutcome['result']): void {
    this.#tell([{ entry, result }]);
  }

  /** Gives up what is not written yet: its leases will tell. */
  end(): void {
    this.parts.pauses.end();
  }

  #enqueue(item: RecordItem): void {
    if (this.#slowRuns.has(item.runId)) return this.#toSlowLane(item);
    this.#queueOf(item).push(item);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#work();
    });
  }

  #work(): void {
    while (this.#linear.length > 0 && this.#linearStatements < LINEAR_STATEMENTS) {
      const group = this.#linear.take(GROUP_SIZE, this.#inFlight);
      if (group.length === 0) break;
      this.#linearStatements++;
      void this.#write(group).finally(() => {
        this.#linearStatements--;
        this.#work();
      });
    }
    for (const queue of [this.#joined, this.#suspending]) this.#workSingly(queue);
  }

  /** One transaction of a lane at a time. */
  #workSingly(queue: RecordQueue): void {
    if (queue.length === 0 || this.#working.has(queue)) return;
    const group = queue.take(GROUP_SIZE, this.#inFlight);
    if (group.length === 0) return;
    this.#working.add(queue);
    void this.#write(group).finally(() => {
      this.#working.delete(queue);
      this.#work();
    });
  }

  #queueOf({ entry }: RecordItem): RecordQueue {
    if (entry.lane === 'linear') return this.#linear;
    return entry.lane === 'joined' ? this.#joined : this.#suspending;
  }

  /** Writes a group and deals with every answer. Outcomes whose run is busy end in the slow lane. */
  async #write(group: readonly RecordItem[], options?: RecordOptions): Promise<void> {
    const answers = await this.#writer.write(group, options);
    this.#inFlight.leave(group);
    const recorded: RecordedOutcome[] = [];
    const unfenced: RecordItem[] = [];
    for (let at = 0; at < group.length; at++) this.#take(group[at]!, answers[at]!, recorded, unfenced);
    if (recorded.length > 0) this.#tell(recorded);
    for (const [at, item] of group.entries()) {
      const answer = answers[at]!;
      if (answer.verdict === 'recorded') item.resolve(recordedResult(answer));
    }
    if (unfenced.length > 0) await this.#judge(unfenced);
  }

  #take(item: RecordItem, answer: WriteAnswer, recorded: RecordedOutcome[], unfenced: RecordItem[]): void {
    switch (answer.verdict) {
      case 'recorded': {
        recorded.push({ entry: item.entry, result: recordedResult(answer) });
        return;
      }
      case 'busy':
        return this.#toSlowLane(item);
      case 'not-fenced':
        unfenced.push(item);
        return;
      case 'refused':
        return this.#refused(item, answer.error);
      case 'given-up':
        return item.resolve({ kind: 'given-up' });
    }
  }

  /** Reads why fences did not hold, and whether that was this process's own write whose answer got lost. */
  async #judge(items: readonly RecordItem[]): Promise<void> {
    let fences: ReadonlyMap<string, Fence>;
    try {
      const read = await persist(
        'reading fences',
        () => this.parts.store.readFences(items.flatMap(fencesToRead)),
        this.parts,
      );
      fences = new Map(read.map((fence) => [fence.stageRunId, fence]));
    } catch (error) {
      this.parts.log.error(
        `What became of ${items.length} outcomes could not be read: ${errorLine(error)}`,
        errorStack(error),
      );
      for (const item of items) item.resolve({ kind: 'given-up' });
      return;
    }
    for (const item of items) {
      const result = judgeFence(item, fences);
      if (result === 'undecided') this.#refused(item, new Error('The fence of a held lease did not hold.'));
      else {
        if (result.kind === 'recorded') this.#tell([{ entry: item.entry, result }]);
        item.resolve(result);
      }
    }
  }

  /** The store wants this outcome in no form so far. Data it can't hold is replaced by a failure; anything else is tried again first. */
  #refused(item: RecordItem, error: unknown): void {
    const { log, store, pauses } = this.parts;
    const { runId, stageRunId } = item.entry.record.lease;
    const dataError = store.isDataError(error);
    item.refusals++;
    if (!dataError && item.refusals < REFUSALS) {
      void pauses.sleep(100 * 2 ** item.refusals).then(() => {
        if (pauses.over) item.resolve({ kind: 'given-up' });
        else this.#enqueue(item);
      });
      return;
    }
    const what = `The outcome of stage run ${stageRunId} of run ${runId} could not be stored: ${errorLine(error)}`;
    const replacement = item.replaced ? undefined : unstorable(item, error, dataError);
    if (!replacement) {
      log.error(`${what}. It is given up; its lease will end.`, errorStack(error));
      return item.resolve({ kind: 'given-up' });
    }
    log.error(`${what}. The stage fails with it.`, errorStack(error));
    item.replaced = true;
    item.refusals = 0;
    item.entry = replacement;
    this.#enqueue(item);
  }

  #toSlowLane(item: RecordItem): void {
    const { runId } = item;
    this.#slow.push(item);
    this.#slowRuns.set(runId, (this.#slowRuns.get(runId) ?? 0) + 1);
    // Those that wait behind it in the other lanes would only meet the same lock.
    for (const queue of [this.#linear, this.#joined, this.#suspending]) {
      for (const follower of queue.takeRun(runId)) this.#toSlowLane(follower);
    }
    if (!this.#slowWorking) void this.#workSlowly();
  }

  async #workSlowly(): Promise<void> {
    this.#slowWorking = true;
    for (let item = this.#slow.shift(); item; item = this.#slow.shift()) {
      const { runId } = item;
      const [answer] = await this.#writer.write([item], { lockTimeoutMs: SLOW_LOCK_TIMEOUT_MS });
      if (answer!.verdict === 'busy') {
        this.#slow.push(item);
        await this.parts.pauses.sleep(SLOW_PAUSE_MS);
        if (this.parts.pauses.over) this.#giveUpSlow();
        continue;
      }
      const left = (this.#slowRuns.get(runId) ?? 1) - 1;
      if (left > 0) this.#slowRuns.set(runId, left);
      else this.#slowRuns.delete(runId);
      const recorded: RecordedOutcome[] = [];
      const unfenced: RecordItem[] = [];
      this.#take(item, answer!, recorded, unfenced);
      if (recorded.length > 0) {
        this.#tell(recorded);
        item.resolve(recorded[0]!.result);
      }
      if (unfenced.length > 0) await this.#judge(unfenced);
    }
    this.#slowWorking = false;
  }

  #giveUpSlow(): void {
    for (const item of this.#slow.splice(0)) item.resolve({ kind: 'given-up' });
    this.#slowRuns.clear();
  }

  #tell(recorded: readonly RecordedOutcome[]): void {
    try {
      this.parts.onRecorded(recorded);
    } catch (error) {
      // Hints only: polling finds what they would have told.
      this.parts.log.error(`Telling of recorded outcomes failed: ${errorLine(error)}`, errorStack(error));
    }
  }
}

function recordedResult({
  handedOff,
  finished,
  wait,
}: Extract<WriteAnswer, { verdict: 'recorded' }>): RecordedOutcome['result'] {
  return { kind: 'recorded', handedOff, finished, ...(wait && { wait }) };
}
