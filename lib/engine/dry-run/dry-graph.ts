import { decodeJson } from '../codec/json.js';
import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import type { NewStageRun, StageRunState } from '../state/rows.js';
import { expressionsOf, GraphVisits, GraphWalk, type Walked } from '../walk/index.js';
import type { DryFailure, DryGiven, DryHost } from './dry-given.js';
import type { DryProblem, DryRun, DryStep } from './dry-run.js';
import { DryValues } from './dry-values.js';
import { escalationsAt } from './escalations.js';
import { isPassed, lookAtNode, takesTime } from './look-at-node.js';
import { hasAssumedTurn } from './look-passed.js';
import type { DryPlace, Look } from './look.js';
import { passedSentence } from './passed-sentence.js';

/** Walks through a graph as a run would, and runs nothing. Ends: by the limits of the graph, and by `maxSteps`. */
export async function dryRunGraph(graph: CompiledGraph, given: DryGiven, host: DryHost): Promise<DryRun> {
  return new DryWalk(graph, given, host).run();
}

type Row = { -readonly [K in keyof StageRunState]: StageRunState[K] };

/**
 * A run whose rows stand in memory. The walk is the one that runs take. It stops where they do, and where something is not known that
 * they would know; what workers, people and time would answer there is answered by a look. The oldest visit comes next, as if one
 * worker did all.
 */
class DryWalk {
  readonly #rows: Row[] = [];
  readonly #steps = new Map<number, DryStep>();
  readonly #problems: DryProblem[] = [];
  readonly #unknownOutputs = new Set<string>();
  /** Nodes that take time, or may change what the run is about. */
  readonly #passed = new Set<string>();
  /** With no more stage runs than are shown. */
  readonly #graph: CompiledGraph;
  readonly #nodes: ReadonlyMap<string, CompiledGraphNode>;
  #assumed = false;
  #ids = 0;
  #end: Omit<DryRun, 'path' | 'problems'> | undefined;

  constructor(
    private readonly graph: CompiledGraph,
    private readonly given: DryGiven,
    private readonly host: DryHost,
  ) {
    const maxStageRuns = Math.min(graph.settings.maxStageRuns, given.limits.maxSteps);
    this.#graph = { ...graph, settings: { ...graph.settings, maxStageRuns } };
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  }

  async run(): Promise<DryRun> {
    this.#walk((walk) => walk.enter(this.graph.start));
    while (this.#end === undefined) await this.#next();
    const path = [...this.#steps].sort(([a], [b]) => a - b).map(([, step]) => step);
    return { ...this.#end, path, problems: this.#problems };
  }

  async #next(): Promise<void> {
    const pending = this.#rows.filter(({ status }) => status === 'PENDING');
    // What a run would have passed by now comes before what it waits for.
    const row = pending.find((one) => isPassed(this.#node(one))) ?? pending[0];
    if (!row) throw new Error(`A dry run of ${this.graph.id} has nothing left to do, and has not ended.`);
    const place = this.#placeOf(row);
    const look = await lookAtNode(place);
    const escalations = look.failure || look.skipped ? [] : await escalationsAt(place);
    this.#tell(row, look, escalations);
    if (look.failure) return this.#fail(row.node, look.failure);
    const { output, outcome, outputKnown, skipped, assumes } = look;
    Object.assign(row, { status: skipped ? 'SKIPPED' : 'COMPLETED', output, outcome });
    if (assumes) this.#assumed = true;
    if (takesTime(place.node) && !skipped) this.#passed.add(row.node);
    if (!skipped) this.#learn(row.node, outputKnown);
    this.#walk((walk) => walk.ended(row));
    // An end that was looked at, and not passed on the way.
    if (place.node.type === 'end' && this.#end?.ends === 'completed') this.#end = endOf(look);
  }

  #learn(node: string, isKnown: boolean): void {
    if (isKnown) this.#unknownOutputs.delete(node);
    else this.#unknownOutputs.add(node);
  }

  /** Where it says what the row alone does not tell. */
  #stopsAt(node: CompiledGraphNode): boolean {
    if (this.#unknownOutputs.size === 0) return false;
    const asked = [...expressionsOf(node), ...(node.when ? [node.when] : [])];
    if (asked.some(({ outputs }) => outputs.some((one) => this.#unknownOutputs.has(one)))) return true;
    return hasAssumedTurn({ node, visits: this.#visits() });
  }

  #visits(): GraphVisits {
    const ended = this.#rows.filter(({ status }) => status === 'COMPLETED' || status === 'SKIPPED');
    return GraphVisits.ofEnded(
      this.graph,
      ended.map(({ node, status, output, outcome = null }) => ({ node, status, output, outcome })),
    );
  }

  #placeOf(row: Row): DryPlace {
    const { graph, given, host } = this;
    const visits = this.#visits();
    const values = new DryValues({
      input: given.input,
      world: given.world,
      outputOf: (node) => visits.output(node),
      unknownOutputs: this.#unknownOutputs,
      passed: [...this.#passed],
    });
    return { graph, node: this.#node(row), visits, values, given, host };
  }

  #tell({ node, stage: type, visit, ordinal }: Row, look: Look, escalations: readonly string[] = []): void {
    const { would, outcome, unknown = [] } = look;
    this.#steps.set(ordinal, {
      node,
      type,
      visit,
      would,
      ...(outcome !== null && { outcome }),
      ...(look.given !== undefined && { given: look.given }),
      ...(unknown.length > 0 && { unknown: [...new Set(unknown)] }),
      ...(escalations.length > 0 && { escalations }),
      ...(this.#assumed && { assumed: true }),
    });
  }

  #walk(begin: (walk: GraphWalk) => void): void {
    const { given } = this;
    const run = { id: 'dry-run', queue: null, input: given.input, stageRunCount: this.#rows.at(-1)?.ordinal ?? 0 };
    const context = {
      ...given.limits,
      nextId: () => String(++this.#ids),
      defaultQueue: '',
      stopsAt: (node: CompiledGraphNode) => this.#stopsAt(node),
    };
    const walk = new GraphWalk(this.#graph, run, this.#rows, context);
    begin(walk);
    const { stageRuns, end, cancelled } = walk.go();
    for (const row of stageRuns) this.#add(row);
    for (const row of this.#rows) if (cancelled.includes(row.id)) row.status = 'CANCELLED';
    this.#take(end);
  }

  #take(end: Walked['end']): void {
    if (end?.to === 'COMPLETED') {
      const last = this.#rows.at(-1)!;
      this.#end = endOf({ outcome: last.outcome ?? null, output: end.output, outputKnown: true });
    } else if (end?.to === 'FAILED') {
      const { failure } = end;
      const { maxSteps } = this.given.limits;
      const isOurs = failure.code === 'STEP_LIMIT_EXCEEDED' && this.graph.settings.maxStageRuns > maxSteps;
      this.#fail(failure.node, failure);
      if (isOurs) this.#end = { ends: 'open' };
    }
  }

  /** What the walk has passed by itself is told of at once. */
  #add({ id, node, key, stage, visit, ordinal, status, output = null, outcome = null, failure }: NewStageRun): void {
    const row: Row = { id, node, key, stage, visit, ordinal, status, output, outcome, attempt: 0, requeues: 0 };
    this.#rows.push(row);
    if (status === 'PENDING') return;
    const would = failure ? `Fails: ${failure.message}` : passedSentence(this.#node(row), outcome, output);
    this.#tell(row, { would, outcome, output: '', outputKnown: true });
    if (status === 'COMPLETED') this.#learn(node, true);
  }

  #fail(node: string | null, { code, message }: DryFailure): void {
    this.#problems.push({ node, code, message });
    this.#end = { ends: 'failed' };
  }

  #node({ node }: Pick<Row, 'node'>): CompiledGraphNode {
    return this.#nodes.get(node)!;
  }
}

function endOf({
  outcome,
  output,
  outputKnown,
}: Pick<Look, 'outcome' | 'output' | 'outputKnown'>): Omit<DryRun, 'path' | 'problems'> {
  return {
    ends: 'completed',
    ...(outcome !== null && { outcome }),
    ...(outputKnown && { output: decodeJson(output, 'The output of a dry run') }),
  };
}
