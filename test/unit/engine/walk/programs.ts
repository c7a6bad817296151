import { fc } from '../../../support/properties.js';
import type { Graph, GraphEdge, GraphNode } from '../../../../lib/engine/graph/index.js';

/** A workflow as people think of it: parts after each other, one of which may hold others. */
export type Part =
  | { readonly kind: 'work'; readonly escalations: readonly Escalation[] }
  | { readonly kind: 'condition'; readonly holds: boolean; readonly held: Program; readonly otherwise: Program }
  | { readonly kind: 'loop'; readonly over: 'count' | 'list'; readonly turns: number; readonly body: Program }
  | { readonly kind: 'parallel'; readonly join: 'all' | 'any' | 'taken'; readonly branches: readonly Branch[] };

/** Where the edge that it takes leads: on as if the work were done, or by work of its own. */
export type Escalation = 'notify' | 'on' | 'by other work';

export interface Branch {
  readonly taken: boolean;
  readonly body: Program;
}

export type Program = readonly Part[];

export const { program } = fc.letrec<{ program: Program; body: Program; part: Part }>((tie) => ({
  program: fc.array(tie('part'), { maxLength: 3, depthIdentifier: 'program' }),
  /** What a block repeats, or runs beside others, is never nothing. */
  body: fc.array(tie('part'), { minLength: 1, maxLength: 3, depthIdentifier: 'program' }),
  part: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'program' },
    fc.record({
      kind: fc.constant('work' as const),
      escalations: fc.array(fc.constantFrom<Escalation>('notify', 'on', 'by other work'), { maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant('condition' as const),
      holds: fc.boolean(),
      held: tie('program'),
      otherwise: tie('program'),
    }),
    fc.record({
      kind: fc.constant('loop' as const),
      over: fc.constantFrom('count' as const, 'list' as const),
      turns: fc.nat({ max: 3 }),
      body: tie('body'),
    }),
    fc.record({
      kind: fc.constant('parallel' as const),
      join: fc.constantFrom('all' as const, 'any' as const, 'taken' as const),
      branches: fc.array(fc.record({ taken: fc.boolean(), body: tie('body') }), { minLength: 2, maxLength: 3 }),
    }),
  ) as fc.Arbitrary<Part>,
}));

/** A program as a graph, the input that its conditions look at, and what a run of it has to do. */
export interface Written {
  readonly graph: Graph;
  readonly input: Readonly<Record<string, unknown>>;
  /** How often each node of work is come to; those that a branch which nobody waits for may leave undone are not there. */
  readonly work: ReadonlyMap<string, number>;
  /** By which outcome escalations go on, by their keys; those that only tell are not there. */
  readonly edges: ReadonlyMap<string, string>;
}

export function write(parts: Program): Written {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const input: Record<string, unknown> = {};
  const work = new Map<string, number>();
  const taken = new Map<string, string>();

  /** Writes parts that lead to `next`; returns where they begin. `times`: how often they run, null = nobody knows. */
  function writeAll(program: Program, next: string, times: number | null): string {
    return [...program].reverse().reduce((to, part) => writeOne(part, to, times), next);
  }

  function writeOne(part: Part, next: string, times: number | null): string {
    const id = `${part.kind}-${nodes.length}`;
    // Its place is taken before what stands in it is written.
    const node: Record<string, unknown> = { id, type: part.kind };
    nodes.push(node as GraphNode);
    switch (part.kind) {
      case 'work':
        edges.push({ from: id, to: next });
        if (times !== null && times > 0) work.set(id, times);
        if (part.escalations.length > 0) {
          node.escalations = part.escalations.map((escalation, at) => {
            if (escalation === 'notify') return { after: '1 hour', action: { type: 'notify', to: ['ann'] } };
            const outcome = `late${at}`;
            taken.set(`${id}#${at + 1}`, outcome);
            const other = `other-${nodes.length}`;
            if (escalation === 'on') edges.push({ from: id, outcome, to: next });
            else {
              nodes.push({ id: other, type: 'work' } as GraphNode);
              edges.push({ from: id, outcome, to: other }, { from: other, to: next });
            }
            return { after: '2 hours', action: { type: 'take_edge', outcome } };
          });
        }
        return id;
      case 'condition': {
        input[id.replace('-', '_')] = part.holds;
        node.config = { if: `input.${id.replace('-', '_')}` };
        const [held, otherwise] = [part.holds ? times : 0, part.holds ? 0 : times];
        edges.push({ from: id, outcome: 'true', to: writeAll(part.held, next, held) });
        edges.push({ from: id, outcome: 'false', to: writeAll(part.otherwise, next, otherwise) });
        return id;
      }
      case 'loop': {
        const name = id.replace('-', '_');
        input[name] = part.over === 'count' ? part.turns : Array.from({ length: part.turns }, (_, at) => at);
        node.config = part.over === 'count' ? { count: `input.${name}` } : { forEach: `input.${name}` };
        const turns = times === null ? null : times * part.turns;
        edges.push({ from: id, outcome: 'each', to: writeAll(part.body, id, turns) }, { from: id, to: next });
        return id;
      }
      case 'parallel': {
        const join = part.join;
        const branches = part.branches.map(({ taken }, at) => {
          const name = `${id.replace('-', '_')}_${at}`;
          input[name] = taken;
          return { outcome: `b${at}`, ...(join !== 'all' && { when: `input.${name}` }) };
        });
        node.config = { join, branches };
        for (const [at, { taken, body }] of part.branches.entries()) {
          const runs = join === 'all' || taken ? (join === 'any' && times !== 0 ? null : times) : 0;
          edges.push({ from: id, outcome: `b${at}`, to: writeAll(body, id, runs) });
        }
        edges.push({ from: id, to: next });
        return id;
      }
    }
  }

  const start = writeAll(parts, 'end', 1);
  nodes.push({ id: 'end', type: 'end', config: { outcome: 'through' } });
  return { graph: { id: 'program', start, nodes, edges }, input, work, edges: taken };
}
