import type { CompiledGraph } from '../../../../lib/engine/graph/index.js';
import type { RunState, StageRunState, Transition } from '../../../../lib/engine/state/rows.js';
import type { CompiledDefinition } from '../../../../lib/engine/definition/index.js';
import { decideRetry, decideSettled, decideStart } from '../../../../lib/engine/state/decide.js';
import { decideRerun, type RerunDecision } from '../../../../lib/engine/state/decide-rerun.js';
import { isEscalation } from '../../../../lib/engine/state/escalation-key.js';
import { graphDefinition, type TurnLimits } from '../../../../lib/engine/walk/index.js';

const NO = { code: 'EXCEPTION', name: 'Error', message: 'no', retryable: true };

/** A run of a graph whose rows stand in memory: workers bring visits to their ends, in whatever order. */
export class WalkedRun {
  readonly stageRuns: StageRunState[] = [];
  readonly events: string[] = [];
  end: Transition['run'] = null;
  /** Node by node, how often a worker has done it. */
  readonly worked = new Map<string, number>();
  #ids = 0;
  readonly #definition: CompiledDefinition;
  readonly #context = { nextId: () => `id-${++this.#ids}`, defaultQueue: 'default' };

  constructor(
    graph: CompiledGraph,
    private readonly input: unknown,
    limits: Partial<TurnLimits> = {},
  ) {
    this.#definition = graphDefinition(graph, 1, { maxOutputBytes: 65_536, maxLoopIterations: 1_000, ...limits });
    const run = { id: 'run', queue: null, input: JSON.stringify(input) };
    this.#apply(decideStart(this.#definition, run, false, this.#context));
  }

  /** Visits and escalations that wait for a worker. */
  get open(): readonly StageRunState[] {
    return this.stageRuns.filter(({ status }) => status === 'PENDING');
  }

  get pending(): readonly StageRunState[] {
    return this.open.filter((stageRun) => !isEscalation(stageRun));
  }

  /** Escalations that have not fired. */
  get escalations(): readonly StageRunState[] {
    return this.open.filter(isEscalation);
  }

  statuses(): string[] {
    return this.stageRuns.map(({ key, visit, status, outcome }) =>
      [key, ...(visit > 1 ? [`#${visit}`] : []), status, ...(outcome ? [outcome] : [])].join(' '),
    );
  }

  /** Ends visits, and fires escalations, in one call of the store, as a grouped record does; of those some with a failure for good. */
  complete(
    ended: readonly StageRunState[],
    output: unknown = null,
    outcome?: string,
    failed: readonly StageRunState[] = [],
  ): void {
    for (const row of failed) Object.assign(row, { status: 'FAILED', attempt: row.attempt + 1 });
    for (const row of ended) {
      if (!isEscalation(row)) this.worked.set(row.node, (this.worked.get(row.node) ?? 0) + 1);
      Object.assign(row, { status: 'COMPLETED', output: JSON.stringify(output), ...(outcome && { outcome }) });
    }
    const events = ended.map((row) =>
      isEscalation(row)
        ? { type: 'escalation-ended' as const, stageRunId: row.id, failure: null }
        : { type: 'node-settled' as const, node: row.node, visit: row.visit },
    );
    const failures = failed.map(({ id, key }) => ({ type: 'stage-failed' as const, stageRunId: id, key, failure: NO }));
    this.#apply(decideSettled(this.#definition, this.#state(), [...failures, ...events], this.#context));
  }

  /** What a rerun of the run, which has completed, would do; nothing of it is done. */
  rerun(node: string): RerunDecision {
    return decideRerun(this.#definition, { ...this.#state(), status: 'COMPLETED' }, node, this.#context);
  }

  /** A manual retry of the run, which has failed; or why there is none. */
  retry(): string | undefined {
    if (this.end?.to !== 'FAILED') throw new Error('It has not failed.');
    const { node } = this.end.failure;
    const decision = decideRetry(this.#definition, { ...this.#state(), status: 'FAILED' }, node, this.#context);
    if ('refused' in decision) return decision.refused;
    this.end = null;
    this.#apply(decision.transition);
    return undefined;
  }

  /** The same, each escalation by the outcome that its edge has; those without an edge have told somebody. */
  finish(ended: readonly StageRunState[], edges: ReadonlyMap<string, string>): void {
    for (const row of ended) {
      const outcome = isEscalation(row) ? edges.get(row.key) : undefined;
      if (outcome !== undefined) Object.assign(row, { outcome });
    }
    this.complete(ended, { to: ['ann'], message: null });
  }

  /** How often the run came to a node. */
  came(node: string): number {
    return this.stageRuns.filter((row) => row.key === node).length;
  }

  /** Fires an escalation; one that takes an edge with its outcome. */
  fire(key: string, outcome?: string): void {
    const row = this.escalations.find((candidate) => candidate.key === key);
    if (!row) throw new Error(`${key} is not open: ${this.statuses().join(', ')}`);
    this.complete([row], { to: ['ann'], message: null }, outcome);
  }

  completeNode(node: string, output?: unknown, outcome?: string): void {
    const row = this.pending.find((candidate) => candidate.node === node);
    if (!row) throw new Error(`${node} is not pending: ${this.statuses().join(', ')}`);
    this.complete([row], output, outcome);
  }

  #state(): RunState {
    return {
      id: 'run',
      status: 'RUNNING',
      generation: 1,
      priority: 0,
      queue: null,
      input: JSON.stringify(this.input),
      stageRuns: this.stageRuns,
      stageRunCount: Math.max(0, ...this.stageRuns.map(({ ordinal }) => ordinal)),
    };
  }

  #apply({ stageRuns, events, run, reopened, cancelled = [], leftBy = {}, cancelOpen }: Transition): void {
    for (const { id } of reopened) {
      const row = this.stageRuns.find((candidate) => candidate.id === id)!;
      if (row.status !== 'FAILED' && row.status !== 'CANCELLED') throw new Error(`${row.key} is ${row.status}.`);
      Object.assign(row, { status: 'PENDING' });
    }
    for (const row of stageRuns) {
      const { id, node, key, stage, visit, status, ordinal, output = null, outcome = null } = row;
      if (this.stageRuns.some((other) => other.key === key && other.visit === visit))
        throw new Error(`${key} has a second visit ${visit}.`);
      this.stageRuns.push({ id, node, key, stage, visit, status, attempt: 0, ordinal, requeues: 0, output, outcome });
    }
    for (const id of cancelled) {
      const row = this.stageRuns.find((candidate) => candidate.id === id)!;
      if (row.status !== 'PENDING') throw new Error(`${row.key} is cancelled, and was ${row.status}.`);
      Object.assign(row, { status: 'CANCELLED', outcome: leftBy[id] ?? null });
    }
    if (cancelOpen) for (const row of this.open) Object.assign(row, { status: 'CANCELLED' });
    this.events.push(...events.map(({ type }) => type));
    if (run && run.to !== 'RUNNING') this.end = run;
  }
}
