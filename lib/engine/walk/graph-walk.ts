import { decodeJson } from '../codec/json.js';
import { EventValue, ExpressionValues } from '../expression/index.js';
import { DONE, SKIPPED, type CompiledGraph, type CompiledGraphNode } from '../graph/index.js';
import type { DecideContext, EnteredRun } from '../state/deciding.js';
import { runFailure } from '../state/enter-node.js';
import type { EngineEvent, JsonText, NewJob, NewStageRun, RunChange, RunFailure } from '../state/rows.js';
import { isTerminalStageRun } from '../state/statuses.js';
import { nodeJob } from './node-job.js';
import { GraphVisits, isWithin, nodeOf, type EndedVisit, type Visit, type VisitRow } from './graph-visits.js';
import { isInline, isWhenInline } from './inline-nodes.js';
import { OpenEscalations } from './open-escalations.js';
import { TooManyTurns, turnLoop, type TurnLimits } from './loop-turn.js';
import { forkResult, resultOf, type NodeResult } from './node-result.js';

export interface WalkContext extends DecideContext, TurnLimits {
  /** Nodes that are left to whoever drives the walk, though a run would pass them: a dry run may not know enough. @default none */
  readonly stopsAt?: (node: CompiledGraphNode) => boolean;
}

/** What a walk has written down. */
export interface Walked {
  readonly stageRuns: readonly NewStageRun[];
  readonly events: readonly EngineEvent[];
  /** The run's end, if it came to one. */
  readonly end: RunChange | null;
  /** Stage runs of branches that nobody waits for any more, visits that were left, escalations of what has ended. */
  readonly cancelled: readonly string[];
  /** Of those the visits that an escalation left, and by which outcome. */
  readonly leftBy: Readonly<Record<string, string>>;
}

/** An end that workers brought; which visit it was is told where escalations of it may be open. */
type Ended = Omit<EndedVisit, 'outcome'> & { readonly visit?: number; readonly outcome?: string | null };

/** Something left to do: a run comes to a node from outside, or a body comes back to its block. */
type Step =
  | { readonly kind: 'enter'; readonly node: CompiledGraphNode }
  | { readonly kind: 'back'; readonly block: CompiledGraphNode; readonly branch: string };

/**
 * Takes a run through its graph, from nodes that have ended to the nodes that wait for a worker, or to its end. What needs no worker
 * is passed on the way, each visit a stage run of its own (GRAPH-4).
 *
 * A parallel node is visited when its branches begin, and again when they are joined; a loop at each turn, and once more when it is
 * done. Whether a branch is still under way is read from its stage runs and from what this walk has left to do: all ends of one
 * call are given at once, so that no branch is taken for done whose last node has ended but has not been followed.
 */
export class GraphWalk {
  readonly #rows: NewStageRun[] = [];
  readonly #events: EngineEvent[] = [];
  readonly #cancelled: string[] = [];
  readonly #leftBy: Record<string, string> = {};
  readonly #visits: GraphVisits;
  readonly #escalations: OpenEscalations;
  #agenda: Step[] = [];
  #ordinal: number;
  #end: RunChange | null = null;
  #input: EventValue | undefined;

  constructor(
    private readonly graph: CompiledGraph,
    private readonly run: EnteredRun,
    stageRuns: readonly VisitRow[],
    private readonly context: WalkContext,
  ) {
    this.#visits = new GraphVisits(graph, stageRuns);
    this.#escalations = new OpenEscalations(stageRuns);
    this.#ordinal = run.stageRunCount;
  }

  /** The run comes to a node. */
  enter(node: string): void {
    this.#agenda.push({ kind: 'enter', node: nodeOf(this.graph, node) });
  }

  /** A visit has come to its end: what follows is left to do, unless the run is at its end by one that was told before. */
  ended({ node: id, visit, status, outcome = null, output }: Ended): void {
    const node = nodeOf(this.graph, id);
    if (visit !== undefined) this.#calm({ node: id, visit });
    if (this.#end !== null) return;
    if (status === 'SKIPPED') this.#skip(node);
    else if (isFork(node, outcome)) this.#begin(node, branchesOf(output));
    else if (node.builtIn && node.type === 'end') this.#complete(output ?? 'null');
    else this.#follow(node, outcome ?? DONE);
  }

  /** An escalation goes on by another edge: the visit ends there. False: it has ended already, or the run, and nothing follows (ESC-1). */
  leave(visited: { readonly node: string; readonly visit: number }, outcome: string): boolean {
    const visit = this.#visits.beside(visited);
    if (this.#end !== null || visit === undefined || isTerminalStageRun(visit.status)) return false;
    this.#drop(visit);
    this.#leftBy[visit.id] = outcome;
    this.#follow(nodeOf(this.graph, visit.node), outcome);
    return true;
  }

  /** Does all that is left to do. */
  go(): Walked {
    for (let step = this.#agenda.shift(); step && this.#end === null; step = this.#agenda.shift()) {
      if (step.kind === 'enter') this.#enter(step.node);
      else this.#back(step.block, step.branch);
    }
    return {
      stageRuns: this.#rows,
      events: this.#events,
      end: this.#end,
      cancelled: this.#cancelled,
      leftBy: this.#leftBy,
    };
  }

  #follow(node: CompiledGraphNode, outcome: string): void {
    const to = node.edges.get(outcome);
    if (to === undefined) {
      const outcomes = [...node.edges.keys()].join(', ');
      return this.#over(runFailure('UNKNOWN_OUTCOME', { node: node.id, type: node.type, outcome, outcomes }, node.id));
    }
    this.#lead(to, node.body?.block === to ? node.body.outcome : null);
  }

  /** @param branch the body that comes back to the block `to`; null = it is entered */
  #lead(to: string, branch: string | null): void {
    const node = nodeOf(this.graph, to);
    this.#agenda.push(branch === null ? { kind: 'enter', node } : { kind: 'back', block: node, branch });
  }

  #enter(node: CompiledGraphNode): void {
    if (!this.#count(node)) return;
    // A worker asks it, before anything else of the node.
    if (!isWhenInline(node)) return this.#queue(node);
    if (node.when !== null && !this.context.stopsAt?.(node)) {
      const answer = node.when.evaluate(this.#values());
      if (!answer.ok) return this.#failed(node, `when: ${answer.problem}`);
      if (answer.value !== true) return this.#leaveOut(node);
    }
    if (!this.#passes(node)) return this.#queue(node);
    if (node.type === 'parallel') return this.#fork(node);
    if (node.type === 'loop') return this.#turn(node, true);
    this.#take(node, resultOf(node, this.#values(), this.context.maxOutputBytes));
  }

  #back(block: CompiledGraphNode, branch: string): void {
    if (block.type === 'loop') {
      if (!this.#count(block)) return;
      // A loop that a worker has to look at is looked at by one at every turn.
      if (this.#passes(block)) this.#turn(block, false);
      else this.#queue(block);
    } else this.#join(block, branch);
  }

  #passes(node: CompiledGraphNode): boolean {
    return isInline(node) && !this.context.stopsAt?.(node);
  }

  #turn(node: CompiledGraphNode, entered: boolean): void {
    const result = turnLoop(node, this.#visits, entered, this.#values(), this.context);
    if (!(result instanceof TooManyTurns)) return this.#take(node, result);
    const { turns: actual, most: value } = result;
    const where = `Loop ${node.id} of ${this.graph.id}`;
    this.#fail(node, runFailure('LOOP_LIMIT_EXCEEDED', { where, actual, limit: 'maxLoopIterations', value }, node.id));
  }

  #fork(node: CompiledGraphNode): void {
    const fork = forkResult(node, this.#values());
    if (fork.kind === 'failed') return this.#failed(node, fork.problem);
    this.#visit(node, 'COMPLETED', { output: fork.output, outcome: null });
    this.#begin(node, branchesOf(fork.output));
  }

  #begin(node: CompiledGraphNode, taken: readonly string[]): void {
    if (taken.length === 0) return this.#joined(node, []);
    for (const outcome of taken) this.#lead(node.edges.get(outcome)!, null);
  }

  #join(block: CompiledGraphNode, branch: string): void {
    const { join } = block.config as { readonly join: 'all' | 'any' | 'taken' };
    if (join !== 'any') {
      if (this.#isUnderWay(block)) return;
      const fork = this.#visits.last(block.id, ({ outcome }) => outcome === null);
      return this.#joined(block, branchesOf(fork?.output ?? null));
    }
    for (const visit of this.#visits.openWithin(block.id)) this.#drop(visit);
    this.#agenda = this.#agenda.filter((step) => !this.#isOf(step, block));
    this.#joined(block, [branch]);
  }

  #joined(block: CompiledGraphNode, branches: readonly string[]): void {
    if (!this.#count(block)) return;
    this.#visit(block, 'COMPLETED', { output: JSON.stringify({ branches }), outcome: DONE });
    this.#follow(block, DONE);
  }

  #isUnderWay(block: CompiledGraphNode): boolean {
    return this.#visits.openWithin(block.id).length > 0 || this.#agenda.some((step) => this.#isOf(step, block));
  }

  #isOf(step: Step, block: CompiledGraphNode): boolean {
    if (step.kind === 'back' && step.block === block) return true;
    return isWithin(this.graph, step.kind === 'back' ? step.block.id : step.node.id, block.id);
  }

  /** Of a branch that came too late, or left by an escalation. */
  #drop(visit: Visit): void {
    visit.status = 'CANCELLED';
    this.#cancel(visit.id);
    this.#calm(visit);
  }

  /** A visit has ended: nothing escalates there any more. */
  #calm(visit: { readonly node: string; readonly visit: number }): void {
    for (const id of this.#escalations.end(visit)) this.#cancel(id);
  }

  /** What this very walk began never was. */
  #cancel(stageRunId: string): void {
    const at = this.#rows.findIndex(({ id }) => id === stageRunId);
    if (at >= 0) this.#rows.splice(at, 1);
    else this.#cancelled.push(stageRunId);
  }

  #take(node: CompiledGraphNode, result: NodeResult): void {
    if (result.kind === 'failed') return this.#failed(node, result.problem);
    const { output, outcome } = result;
    this.#visit(node, 'COMPLETED', { output, outcome });
    if (result.kind === 'went') return this.#follow(node, outcome);
    this.#complete(output);
  }

  #complete(output: JsonText): void {
    this.#end = { to: 'COMPLETED', output };
    this.#events.push({ type: 'run:completed' });
  }

  #queue(node: CompiledGraphNode): void {
    const visit = this.#visit(node, 'PENDING', { job: nodeJob(node, this.run, this.graph, this.context) });
    this.#rows.push(...this.#escalations.begin(node, visit, this.run, this.graph, this.context));
  }

  #leaveOut(node: CompiledGraphNode): void {
    const { id, key, stage } = this.#visit(node, 'SKIPPED', { skipReason: 'when', outcome: SKIPPED });
    this.#events.push({ type: 'stage:skipped', stageRunId: id, node: key, stage, data: { reason: 'when' } });
    this.#skip(node);
  }

  /** Where nothing is said of what a skipped node leads to, it leads on as if it had run. */
  #skip(node: CompiledGraphNode): void {
    this.#follow(node, node.skipOutcome ?? SKIPPED);
  }

  /** LIMIT-1. */
  #count(node: CompiledGraphNode): boolean {
    const value = this.graph.settings.maxStageRuns;
    this.#ordinal += 1;
    if (this.#ordinal <= value) return true;
    const where = `Node ${node.id} of ${this.graph.id}`;
    const params = { where, actual: this.#ordinal, limit: 'maxStageRuns', value };
    this.#over(runFailure('STEP_LIMIT_EXCEEDED', params, node.id));
    return false;
  }

  #failed(node: CompiledGraphNode, message: string): void {
    this.#fail(node, runFailure('EXPRESSION_FAILED', { node: node.id, message }, node.id));
  }

  #fail(node: CompiledGraphNode, failure: RunFailure): void {
    this.#visit(node, 'FAILED', { failure });
    this.#over(failure);
  }

  #over(failure: RunFailure): void {
    // Nothing of this walk begins any more.
    for (const row of this.#rows.splice(0)) if (row.status !== 'PENDING') this.#rows.push(row);
    this.#end = { to: 'FAILED', failure };
  }

  #visit(
    node: CompiledGraphNode,
    status: NewStageRun['status'],
    of: {
      readonly output?: JsonText;
      readonly outcome?: string | null;
      readonly skipReason?: string;
      readonly failure?: RunFailure;
      readonly job?: NewJob;
    },
  ): NewStageRun {
    const { output = null, outcome = null, skipReason = null, failure = null, job = null } = of;
    const id = this.context.nextId();
    const visit = this.#visits.next(node.id);
    const row: NewStageRun = {
      id,
      node: node.id,
      // The history of a graph is read in the order in which the run came to its nodes.
      position: this.#ordinal,
      key: node.id,
      stage: node.type,
      visit,
      ordinal: this.#ordinal,
      status,
      skipReason,
      failure,
      job,
      output,
      outcome,
    };
    this.#rows.push(row);
    this.#visits.add({ id, node: node.id, visit, ordinal: this.#ordinal, status, output, outcome });
    return row;
  }

  #values(): ExpressionValues {
    this.#input ??= EventValue.of(decodeJson(this.run.input, 'The input of a run'));
    return new ExpressionValues({ input: this.#input, outputOf: (node) => this.#visits.output(node) });
  }
}

/** Whether branches begin with a visit that has completed; a parallel node that was joined has an outcome. */
export const isFork = ({ builtIn, type }: CompiledGraphNode, outcome: string | null): boolean =>
  builtIn && type === 'parallel' && outcome === null;

/** The branches that a parallel node has begun. */
export function branchesOf(output: JsonText | null): readonly string[] {
  return (decodeJson(output ?? '{}') as { readonly branches?: readonly string[] }).branches ?? [];
}
