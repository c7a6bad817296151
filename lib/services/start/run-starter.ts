import type { CreatedRun, JoinedTransaction, NewRun } from '../../engine/ports/index.js';
import { IdempotencyConflictError } from '../../errors/index.js';
import type { StartOptions, StartResult, TransactionManager, WorkflowClass } from '../../interfaces/index.js';
import type { EnginePort, EngineReady } from '../engine-port.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';
import type { RunPreparer } from './run-preparer.js';
import { rateStarts } from './start-rate.js';
import type { SubjectSight } from './subject-sight.js';

/** One start of several. */
export interface StartItem {
  readonly input: unknown;
  readonly options: StartOptions;
}

export interface StartRequest {
  readonly workflow: WorkflowClass | string;
  readonly items: readonly StartItem[];
  readonly manager?: TransactionManager;
  /** Somebody will wait for the results. */
  readonly awaited: boolean;
  /** The call, for errors. */
  readonly where: string;
}

/** Most runs that one statement writes: larger ones only hold their locks longer. */
const GROUP_SIZE = 500;

/** Starts runs: all are checked first, then written in groups, in order, each group whole or not at all. */
export class RunStarter {
  readonly #ready: EngineReady;
  readonly #preparer: RunPreparer;
  readonly #joiner: TransactionJoiner;
  readonly #subjects: SubjectSight;
  readonly #strict: boolean;

  constructor(
    ready: EngineReady,
    preparer: RunPreparer,
    joiner: TransactionJoiner,
    subjects: SubjectSight,
    options: { readonly strict: boolean },
  ) {
    this.#ready = ready;
    this.#preparer = preparer;
    this.#joiner = joiner;
    this.#subjects = subjects;
    this.#strict = options.strict;
  }

  async start(request: StartRequest): Promise<StartResult[]> {
    const { workflow, items, manager, awaited, where } = request;
    const engine = await this.#ready();
    const definition = await engine.definitions.find(workflow);
    const prepared: NewRun[] = [];
    for (const [at, { input, options }] of items.entries()) {
      const place = items.length === 1 ? where : `${where} [${at}]`;
      prepared.push(
        await this.#preparer.prepare({ definition, input, options, awaited, where: place, nextId: engine.nextId }),
      );
    }
    const keyed = prepared.some((run) => run.idempotency !== null);
    const transaction = await this.#joiner.join({ method: where, manager, needsReadCommitted: keyed });
    const looked = await this.#looked(prepared, manager);

    const { startsPerMinute } = definition.compiled.settings;
    const { runs, refused } = await rateStarts(engine.store, looked, startsPerMinute, transaction);

    const results: StartResult[] = [];
    const made = new Map<string, CreatedRun>();
    for (let at = 0; at < runs.length; at += GROUP_SIZE) {
      const group = runs.slice(at, at + GROUP_SIZE);
      const created = await this.#write(engine, group, made, transaction);
      for (const [index, answer] of created.entries()) {
        this.#checkConflict(group[index]!, answer, items[at + index]!.options.idempotencyKey);
        const run = { id: answer.runId };
        results.push(refused.has(run.id) ? { run, created: false, refused: true } : { run, created: answer.created });
      }
      // Group by group: what is committed may begin while the rest is still being written.
      const fresh = created.filter((answer) => answer.created);
      if (fresh.length > 0) await this.#announce(engine, fresh, transaction);
    }
    return results;
  }

  /** The runs, and of each whether what it is about was its owner's when it was started; each subject is looked at once. */
  async #looked(runs: readonly NewRun[], manager: TransactionManager | undefined): Promise<NewRun[]> {
    const known = new Map<string, boolean>();
    const looked: NewRun[] = [];
    for (const run of runs) {
      const { ownerId, subject } = run;
      if (subject === null) {
        looked.push(run);
        continue;
      }
      const name = JSON.stringify([ownerId, subject.type, subject.id]);
      if (!known.has(name)) known.set(name, await this.#subjects.sees(subject, ownerId, manager));
      looked.push({ ...run, subjectSeen: known.get(name)! });
    }
    return looked;
  }

  /** Writes a group; a key that stood earlier in the same call is its first run's (IDEM-1). */
  async #write(
    engine: EnginePort,
    group: readonly NewRun[],
    made: Map<string, CreatedRun>,
    transaction?: JoinedTransaction,
  ): Promise<CreatedRun[]> {
    const fresh: NewRun[] = [];
    const pending = new Set<string>();
    for (const run of group) {
      const key = keyOf(run);
      if (key !== undefined && (made.has(key) || pending.has(key))) continue;
      if (key !== undefined) pending.add(key);
      fresh.push(run);
    }
    const answers = fresh.length === 0 ? [] : await engine.store.createRuns(fresh, transaction);
    const byRun = new Map(fresh.map((run, at) => [run.id, answers[at]!]));
    return group.map((run) => {
      const key = keyOf(run);
      const own = byRun.get(run.id);
      if (own !== undefined) {
        if (key !== undefined) made.set(key, own);
        return own;
      }
      return { ...made.get(key!)!, created: false };
    });
  }

  async #announce(
    engine: EnginePort,
    created: readonly CreatedRun[],
    transaction: JoinedTransaction | undefined,
  ): Promise<void> {
    const dueInMs = created.map((run) => run.dueInMs);
    const soonest = dueInMs.filter((ms) => ms > 0);
    // Noted before the commit too: a look too many does no harm.
    if (soonest.length > 0) engine.dueIn(Math.min(...soonest));
    if (transaction) await engine.announceWithin(transaction, { work: true });
    else engine.announce({ work: dueInMs.includes(0) });
  }

  #checkConflict(run: NewRun, answer: CreatedRun, key: string | undefined): void {
    if (!this.#strict || answer.created || answer.inputDigest === null || run.idempotency === null) return;
    if (answer.inputDigest.equals(run.idempotency.inputDigest)) return;
    throw new IdempotencyConflictError({ key: key ?? '', workflow: run.definitionId, runId: answer.runId });
  }
}

function keyOf(run: NewRun): string | undefined {
  return run.idempotency?.digest.toString('base64');
}
