import type { OwnerBoundary } from '../../context/index.js';
import { definitionKey } from '../../engine/definition/compiled-definition.js';
import type { CreatedRun, JoinedTransaction, NewRun } from '../../engine/ports/index.js';
import { IdempotencyConflictError } from '../../errors/index.js';
import type { StartOptions, StartResult, TransactionManager, WorkflowClass } from '../../interfaces/index.js';
import type { EnginePort, EngineReady, StartableDefinition } from '../engine-port.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';
import type { ReadStart, RunPreparer } from './run-preparer.js';
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

/** One of them, read. */
interface AskedStart {
  /** Its place among them. */
  readonly at: number;
  readonly input: unknown;
  readonly key: string | undefined;
  readonly start: ReadStart;
}

/** Starts of one definition, by one owner where owners are guarded. */
interface Party {
  readonly definition: StartableDefinition;
  readonly asked: readonly AskedStart[];
}

interface StartCall extends StartRequest {
  readonly engine: EnginePort;
  readonly definition: StartableDefinition;
  /** One of them has a key. */
  readonly keyed: boolean;
}

/** Most runs that one statement writes: larger ones only hold their locks longer. */
const GROUP_SIZE = 500;

/**
 * Starts runs: all are checked first, then written in groups, in order, each group whole or not at all. Where the host guards
 * owners, those of one owner after those of another, each within it.
 */
export class RunStarter {
  readonly #ready: EngineReady;
  readonly #preparer: RunPreparer;
  readonly #joiner: TransactionJoiner;
  readonly #subjects: SubjectSight;
  readonly #boundary: OwnerBoundary;
  readonly #strict: boolean;

  constructor(
    ready: EngineReady,
    preparer: RunPreparer,
    joiner: TransactionJoiner,
    subjects: SubjectSight,
    boundary: OwnerBoundary,
    options: { readonly strict: boolean },
  ) {
    this.#ready = ready;
    this.#preparer = preparer;
    this.#joiner = joiner;
    this.#subjects = subjects;
    this.#boundary = boundary;
    this.#strict = options.strict;
  }

  async start(request: StartRequest): Promise<StartResult[]> {
    const { workflow, items, where } = request;
    const engine = await this.#ready();
    const asked: AskedStart[] = [];
    for (const [at, { input, options }] of items.entries()) {
      const place = items.length === 1 ? where : `${where} [${at}]`;
      const start = await this.#preparer.read(options, place);
      asked.push({ at, input, key: options.idempotencyKey, start });
    }
    const keyed = asked.some(({ start }) => start.settings.idempotencyKey !== null);
    const parties = await this.#parties(engine, workflow, asked);
    const calls = parties.map(({ definition }): StartCall => ({ ...request, engine, definition, keyed }));
    if (parties.length === 1) {
      const [call, theirs] = [calls[0]!, parties[0]!.asked];
      return this.#within(theirs, async () => this.#startAll(call, theirs, await this.#prepared(call, theirs)));
    }
    const prepared: NewRun[][] = [];
    for (const [index, party] of parties.entries())
      prepared.push(await this.#within(party.asked, () => this.#prepared(calls[index]!, party.asked)));
    const results: StartResult[] = [];
    for (const [index, party] of parties.entries()) {
      const started = await this.#within(party.asked, () =>
        this.#startAll(calls[index]!, party.asked, prepared[index]!),
      );
      for (const [nth, { at }] of party.asked.entries()) results[at] = started[nth]!;
    }
    return results;
  }

  /** Those who start the same are one, where nothing guards owners: each owner may have a graph of his own. */
  async #parties(
    engine: EnginePort,
    workflow: StartRequest['workflow'],
    asked: readonly AskedStart[],
  ): Promise<Party[]> {
    const owners = byOwner(asked);
    // Nothing is to be started; that there is such a workflow is asked all the same.
    if (owners.length === 0) await engine.definitions.find(workflow, undefined, null);
    const parties = new Map<string, { definition: StartableDefinition; asked: AskedStart[] }>();
    for (const theirs of owners) {
      const { ownerId } = theirs[0]!.start.captured;
      const definition = await engine.definitions.find(workflow, undefined, ownerId);
      const guard = this.#boundary.guarded ? ownerId : null;
      const name = JSON.stringify([definitionKey(definition.compiled), definition.rateName, guard]);
      const party = parties.get(name);
      if (party) party.asked.push(...theirs);
      else parties.set(name, { definition, asked: [...theirs] });
    }
    const inOrder = (a: AskedStart, b: AskedStart): number => a.at - b.at;
    return [...parties.values()].map((party) => ({ ...party, asked: party.asked.sort(inOrder) }));
  }

  /** Whose all of these are: where nothing guards owners, nobody asks. */
  #within<T>([first]: readonly AskedStart[], fn: () => Promise<T>): Promise<T> {
    return first ? this.#boundary.run(first.start.captured.ownerId, fn) : fn();
  }

  async #prepared({ definition, awaited, engine }: StartCall, asked: readonly AskedStart[]): Promise<NewRun[]> {
    const { nextId } = engine;
    const prepared: NewRun[] = [];
    for (const { input, start } of asked) {
      prepared.push(await this.#preparer.prepare({ definition, input, start, awaited, nextId }));
    }
    return prepared;
  }

  async #startAll(call: StartCall, asked: readonly AskedStart[], prepared: readonly NewRun[]): Promise<StartResult[]> {
    const { engine, definition, manager, where, keyed } = call;
    const transaction = await this.#joiner.join({ method: where, manager, needsReadCommitted: keyed });
    const looked = await this.#looked(prepared, manager);

    const { runs, refused } = await rateStarts(engine.store, looked, definition, {
      ...(transaction && { transaction }),
    });

    const results: StartResult[] = [];
    const made = new Map<string, CreatedRun>();
    for (let at = 0; at < runs.length; at += GROUP_SIZE) {
      const group = runs.slice(at, at + GROUP_SIZE);
      const created = await this.#write(engine, group, made, transaction);
      for (const [index, answer] of created.entries()) {
        this.#checkConflict(group[index]!, answer, asked[at + index]!.key);
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

/** In the order in which owners come. */
function byOwner(asked: readonly AskedStart[]): AskedStart[][] {
  const parties = new Map<string | null, AskedStart[]>();
  for (const one of asked) {
    const { ownerId } = one.start.captured;
    const party = parties.get(ownerId);
    if (party) party.push(one);
    else parties.set(ownerId, [one]);
  }
  return [...parties.values()];
}

function keyOf(run: NewRun): string | undefined {
  return run.idempotency?.digest.toString('base64');
}
