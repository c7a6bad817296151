import type { CompiledGraph } from '../../../../lib/engine/graph/index.js';
import type { RunState, StageRunState, Transition } from '../../../../lib/engine/state/rows.js';
import type { CompiledDefinition } from '../../../../lib/engine/definition/index.js';
import { decideSettled, decideStart } from '../../../../lib/engine/state/decide.js';
import { graphDefinition, type TurnLimits } from '../../../../lib/engine/walk/index.js';

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

  get pending(): readonly StageRunState[] {
    return this.stageRuns.filter(({ status }) => status === 'PENDING');
  }

  statuses(): string[] {
    return this.stageRuns.map(({ node, visit, status, outcome }) =>
      [node, ...(visit > 1 ? [`#${visit}`] : []), status, ...(outcome ? [outcome] : [])].join(' '),
    );
  }

  /** Ends visits in one call of the store, as a grouped record does. */
  complete(ended: readonly StageRunState[], output: unknown = null, outcome?: string): void {
    for (const row of ended) {
      this.worked.set(row.node, (this.worked.get(row.node) ?? 0) + 1);
      Object.assign(row, { status: 'COMPLETED', output: JSON.stringify(output), ...(outcome && { outcome }) });
    }
    const events = ended.map(({ node, visit }) => ({ type: 'node-settled' as const, node, visit }));
    this.#apply(decideSettled(this.#definition, this.#state(), events, this.#context));
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
      stageRunCount: this.stageRuns.length,
    };
  }

  #apply({ stageRuns, events, run, cancelled = [], cancelOpen }: Transition): void {
    for (const row of stageRuns) {
      const { id, node, key, stage, visit, status, ordinal, output = null, outcome = null } = row;
      if (this.stageRuns.some((other) => other.node === node && other.visit === visit))
        throw new Error(`${node} has a second visit ${visit}.`);
      this.stageRuns.push({ id, node, key, stage, visit, status, attempt: 0, ordinal, requeues: 0, output, outcome });
    }
    for (const id of cancelled)
      Object.assign(
        this.stageRuns.find((row) => row.id === id)!,
        { status: 'CANCELLED' },
      );
    if (cancelOpen) for (const row of this.pending) Object.assign(row, { status: 'CANCELLED' });
    this.events.push(...events.map(({ type }) => type));
    this.end = run ?? this.end;
  }
}
