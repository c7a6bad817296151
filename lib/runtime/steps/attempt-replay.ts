import { AsyncLocalStorage } from 'node:async_hooks';
import { digest, encodeJson } from '../../engine/codec/index.js';
import { compileCondition } from '../../engine/expression/index.js';
import type { HostTransactions, OpenWait, WorkflowStore } from '../../engine/ports/index.js';
import {
  Replay,
  stepName,
  Steps,
  type ChildRequest,
  type ReplayHost,
  type StepJournal,
} from '../../engine/steps/index.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { GivenUp, persist } from '../background/persistence.js';
import type { RuntimeLog } from '../background/runtime-log.js';
import type { Attempt } from '../execution/attempt.js';
import { parsePayload } from '../execution/parse-payload.js';
import { HostCommit } from './host-commit.js';
import type { LiveSteps } from './live-steps.js';
import type { StepCrashes } from './step-crashes.js';
import type { StepWriter } from './step-writer.js';

/** Starts a child run for a step (STEP-9). The same key yields the same child. */
export type StartChild = (attempt: Attempt, key: string, request: ChildRequest) => Promise<{ readonly runId: string }>;

export interface AttemptReplayParts {
  readonly store: Pick<WorkflowStore, 'readEffects' | 'answerWaits' | 'writeWithin' | 'extendLeases' | 'isTransient'>;
  /** Waits of a body that goes on stand in the store: timers are to know of them, and stored events to be looked up. */
  readonly onWaiting: (stageRunId: string, waits: readonly OpenWait[]) => void;
  /** Where `ctx.transaction` runs. */
  readonly transactions: HostTransactions;
  readonly writer: StepWriter;
  readonly live: LiveSteps;
  readonly startChild: StartChild;
  /** Only in tests. */
  readonly crashes?: StepCrashes;
  readonly outages: Outages;
  readonly pauses: Pauses;
  readonly log: RuntimeLog;
  readonly random: () => number;
  readonly maxOutputBytes: number;
  /** Shutdown has begun. */
  readonly draining: () => boolean;
}

/** A step's body is given up for dead after this, unless its holder's heartbeat says otherwise or `leaseFor` does. */
const STEP_LEASE_MS = 5 * 60_000;

/** A run whose lock somebody holds is tried again after this. */
const BUSY_PAUSE_MS = 20;

const insideStep = new AsyncLocalStorage<string>();
/** Whether the code that runs now is a step's body: it runs when its step does, not with every replay. */
export const isInsideStep = (): boolean => insideStep.getStore() !== undefined;

/** Calls `body` as one of a step's: durable calls in it are refused. */
export const asInsideStep = <T>(name: string, body: () => T): T => insideStep.run(name, body);

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The durable calls of one attempt: its replay, and the `ctx.step` on it. */
export class AttemptReplay {
  readonly replay: Replay;
  readonly steps: Steps;

  constructor(attempt: Attempt, parts: AttemptReplayParts) {
    this.replay = new Replay(new AttemptHost(attempt, parts), attempt.job.stageRun.hasLedger);
    this.steps = new Steps(this.replay, {
      leaseMs: STEP_LEASE_MS,
      parse: parsePayload,
      checkWhere: (where) => void compileCondition(where),
      startChild: (key, request) => persist('starting children', () => parts.startChild(attempt, key, request), parts),
    });
  }
}

class AttemptHost implements ReplayHost {
  readonly journal: StepJournal;
  readonly random: () => number;

  constructor(
    private readonly attempt: Attempt,
    private readonly parts: AttemptReplayParts,
  ) {
    this.random = parts.random;
    this.journal = new AttemptJournal(attempt, parts);
  }

  get insideStep(): string | undefined {
    return insideStep.getStore();
  }

  get signal(): AbortSignal {
    return this.attempt.signal;
  }

  get aborted(): ReplayHost['aborted'] {
    if (this.attempt.leaseLost) return 'lease-lost';
    return this.attempt.cancelled ? 'cancelled' : undefined;
  }

  get draining(): boolean {
    return this.parts.draining();
  }

  tick(): Promise<void> {
    return macrotask();
  }

  async pause(ms: number): Promise<void> {
    const { pauses } = this.parts;
    await pauses.sleep(ms);
    if (pauses.over) throw new GivenUp('The process ends: nothing is waited for any more.');
  }

  inside<T>(step: string, body: () => T): T {
    return insideStep.run(step, body);
  }

  holding(key: string, leaseMs: number): { done(): void } {
    return this.parts.live.hold(this.attempt, key, leaseMs);
  }

  now(): number {
    return Date.now();
  }

  encode(value: unknown, what: string): string {
    return encodeJson(value, { what, maxBytes: this.parts.maxOutputBytes, limit: 'limits.maxOutputBytes' });
  }

  idempotencyKey(key: string): string {
    return `${this.attempt.job.stageRun.id}:${key}`;
  }

  warn(message: string): void {
    const { run, stageRun } = this.attempt.job;
    this.parts.log.warn(`[run ${run.id} stage ${stageRun.key} ${stageRun.id}] ${message}`);
  }

  stop(stop: Parameters<ReplayHost['stop']>[0]): void {
    this.attempt.interrupt?.(stop);
  }
}

/** The ledger as one attempt sees it: every write carries its lease. */
class AttemptJournal implements StepJournal {
  constructor(
    private readonly attempt: Attempt,
    private readonly parts: AttemptReplayParts,
  ) {}

  readonly load: StepJournal['load'] = () => this.parts.writer.read(this.attempt.lease.stageRunId);

  readonly write: StepJournal['write'] = async (write) => {
    const crash = write.op === 'finish' ? this.parts.crashes?.take(stepName(write.key)) : undefined;
    if (crash === 'unrecorded') return this.#die();
    const verdict = await this.parts.writer.write({ lease: this.attempt.lease, ...write });
    return crash === 'recorded' ? this.#die() : verdict;
  };

  readonly waiting: StepJournal['waiting'] = async (waits) => {
    const { store, onWaiting, pauses } = this.parts;
    const { lease } = this.attempt;
    onWaiting(lease.stageRunId, waits);
    if (!waits.some(({ kind }) => kind === 'signal' || kind === 'child')) return false;
    for (;;) {
      const ended = await persist('answering waits', () => store.answerWaits(lease), this.parts);
      if (ended !== 'busy') return ended > 0;
      await pauses.sleep(BUSY_PAUSE_MS);
      if (pauses.over || this.attempt.over) return false;
    }
  };

  readonly commits: StepJournal['commits'] = () => {
    const { lease, job } = this.attempt;
    const commit = new HostCommit(this.parts);
    return async (body) => {
      const { verdict, crash } = await commit.run({
        lease,
        owner: job.run.ownerId,
        body,
        crash: (write) => (write.op === 'finish' ? this.parts.crashes?.take(stepName(write.key)) : undefined),
      });
      return crash === 'unrecorded' || (crash === 'recorded' && verdict === 'written') ? this.#die() : verdict;
    };
  };

  /** As if the process were gone: nothing more comes of this attempt, and nobody holds its steps. */
  #die(): Promise<never> {
    this.parts.live.drop(this.attempt);
    this.attempt.interrupt?.({ kind: 'crashed' });
    return new Promise(() => undefined);
  }

  readonly readEffect: StepJournal['readEffect'] = async (name) => {
    const { run, stageRun } = this.attempt.job;
    // Not the stage run's id: what was done once stays done in a rerun.
    const key = digest(['effect', run.id, stageRun.key, String(stageRun.visit), name]);
    const kept = await persist('reading effects', () => this.parts.store.readEffects([key], run.ownerId), this.parts);
    return { digest: key, result: kept.get(key.toString('hex')) };
  };
}
