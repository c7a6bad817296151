import { decodeJson } from '../codec/json.js';
import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import { isEscalation } from '../state/escalation-key.js';
import type { JsonText, StageRunState } from '../state/rows.js';
import { isTerminalStageRun, type StageRunStatus } from '../state/statuses.js';

/** One time that a run came to a node: a stage run, as the walk looks at it. */
export interface Visit {
  readonly id: string;
  readonly node: string;
  readonly visit: number;
  readonly ordinal: number;
  status: StageRunStatus;
  readonly output: JsonText | null;
  /** What it ended with; null while it is open, and of a parallel node whose branches have begun. */
  readonly outcome: string | null;
}

/** What a visit is read from. */
export type VisitRow = Pick<StageRunState, 'id' | 'node' | 'visit' | 'ordinal' | 'status' | 'output' | 'outcome'> &
  Partial<Pick<StageRunState, 'key'>>;

export type EndedVisit = Pick<Visit, 'node' | 'status' | 'output' | 'outcome'>;

/** Where a run has been in its graph, those visits included that the present walk makes. Escalations are no visits. */
export class GraphVisits {
  readonly #byNode = new Map<string, Visit[]>();

  constructor(
    private readonly graph: CompiledGraph,
    stageRuns: readonly VisitRow[],
  ) {
    for (const stageRun of [...stageRuns].sort((a, b) => a.ordinal - b.ordinal)) {
      const { id, node, key = node, visit, ordinal, status, output, outcome = null } = stageRun;
      if (isEscalation({ key })) continue;
      this.add({ id, node, visit, ordinal, status, output, outcome });
    }
  }

  /** What has ended, as a worker is told of it with its job: oldest first, and nothing that was cancelled. */
  static ofEnded(graph: CompiledGraph, ended: readonly EndedVisit[]): GraphVisits {
    return new GraphVisits(graph, rowsOfEnded(ended));
  }

  add(visit: Visit): void {
    const visits = this.#byNode.get(visit.node);
    if (visits === undefined) this.#byNode.set(visit.node, [visit]);
    else visits.push(visit);
  }

  /** In the order in which the run came to them. */
  all(): readonly Visit[] {
    return [...this.#byNode.values()].flat().sort((a, b) => a.ordinal - b.ordinal);
  }

  /** The one that an escalation stands beside. */
  beside({ node, visit }: { readonly node: string; readonly visit: number }): Visit | undefined {
    return this.last(node, (one) => one.visit === visit);
  }

  /** Of one node, oldest first. */
  of(node: string): readonly Visit[] {
    return this.#byNode.get(node) ?? [];
  }

  /** The newest that a condition holds for. */
  last(node: string, holds: (visit: Visit) => boolean = () => true): Visit | undefined {
    return this.of(node).findLast(holds);
  }

  next(node: string): number {
    return (this.last(node)?.visit ?? 0) + 1;
  }

  /** What has not ended, of the nodes in the branches of a parallel node. */
  openWithin(block: string): readonly Visit[] {
    return [...this.#byNode.values()].flatMap((visits) =>
      visits.filter(({ node, status }) => !isTerminalStageRun(status) && isWithin(this.graph, node, block)),
    );
  }

  /** What a node came to: of several visits the newest that completed; undefined where none did. */
  output(node: string): unknown {
    const visit = this.last(node, ({ status }) => status === 'COMPLETED');
    return visit && decodeJson(visit.output ?? 'null', `The output of ${node}`);
  }
}

/** What has ended, oldest first, as the rows that it stands for. */
export function rowsOfEnded(ended: readonly EndedVisit[]): VisitRow[] {
  const visits = new Map<string, number>();
  return ended.map(({ node, status, output, outcome }, at) => {
    const visit = (visits.get(node) ?? 0) + 1;
    visits.set(node, visit);
    return { id: '', node, visit, ordinal: at + 1, status, output, outcome };
  });
}

/** Whether a node stands in a body of this block, however deep. */
export function isWithin(graph: CompiledGraph, node: string, block: string): boolean {
  for (let at = nodeOf(graph, node).body; at !== null; at = nodeOf(graph, at.block).body) {
    if (at.block === block) return true;
  }
  return false;
}

const indexes = new WeakMap<CompiledGraph, ReadonlyMap<string, CompiledGraphNode>>();

export function nodeOf(graph: CompiledGraph, id: string): CompiledGraphNode {
  let index = indexes.get(graph);
  if (index === undefined) indexes.set(graph, (index = new Map(graph.nodes.map((node) => [node.id, node]))));
  const node = index.get(id);
  if (node === undefined) throw new Error(`Graph ${graph.id} has no node ${id}.`);
  return node;
}
