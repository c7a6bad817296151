import { fc } from '../../../support/properties.js';
import { graph, type Graph, type GraphBuilder } from '../../../../lib/engine/graph/index.js';

/** A part of a graph that is entered at one node, and left in one direction. */
type Part =
  | { readonly kind: 'stage'; readonly type: string; readonly when: boolean; readonly reads: boolean }
  | { readonly kind: 'set_field' | 'timer' | 'event' | 'emit_event' | 'start_workflow' | 'transition' }
  | {
      readonly kind: 'condition' | 'score' | 'approval';
      readonly left: readonly Part[];
      readonly right: readonly Part[] | 'end';
    }
  | { readonly kind: 'loop'; readonly by: 'count' | 'forEach' | 'while'; readonly body: readonly Part[] }
  | {
      readonly kind: 'parallel';
      readonly join: 'all' | 'any' | 'taken';
      readonly branches: readonly (readonly Part[])[];
    };

const { parts } = fc.letrec<{ part: Part; parts: Part[]; some: Part[] }>((tie) => ({
  parts: fc.array(tie('part'), { maxLength: 4 }),
  some: fc.array(tie('part'), { minLength: 1, maxLength: 3 }),
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('stage' as const),
      type: fc.constantFrom('acme.note', 'acme.pay'),
      when: fc.boolean(),
      reads: fc.boolean(),
    }),
    fc.record({
      kind: fc.constantFrom(
        'set_field' as const,
        'timer' as const,
        'event' as const,
        'emit_event' as const,
        'start_workflow' as const,
        'transition' as const,
      ),
    }),
    fc.record({
      kind: fc.constantFrom('condition' as const, 'score' as const, 'approval' as const),
      left: tie('parts'),
      right: fc.oneof(tie('parts'), fc.constant('end' as const)),
    }),
    fc.record({
      kind: fc.constant('loop' as const),
      by: fc.constantFrom('count' as const, 'forEach' as const, 'while' as const),
      body: tie('some'),
    }),
    fc.record({
      kind: fc.constant('parallel' as const),
      join: fc.constantFrom('all' as const, 'any' as const, 'taken' as const),
      branches: fc.array(tie('some'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));

/** Writes parts by the builder, each with an id of its own and the ways on from it. */
class Writer {
  #count = 0;

  constructor(private readonly builder: GraphBuilder) {}

  /** Writes a row of parts that leads to `next`; the id that it begins with. `inBranch`: no end may stand in it. */
  row(row: readonly Part[], next: string, before: readonly string[], inBranch: boolean): string {
    const ids = row.map(() => `n${(this.#count += 1)}`);
    row.forEach((part, at) => {
      this.#part(part, ids[at]!, ids[at + 1] ?? next, [...before, ...ids.slice(0, at)], inBranch);
    });
    return ids[0] ?? next;
  }

  #part(part: Part, id: string, next: string, before: readonly string[], inBranch: boolean): void {
    const { builder } = this;
    switch (part.kind) {
      case 'stage': {
        const last = before.at(-1);
        builder.stage(
          id,
          part.type,
          {
            ...(part.type === 'acme.pay' ? { config: { method: 'card' } } : {}),
            ...(part.when ? { when: 'input.amount > 5 && input.name != ""' } : {}),
            ...(part.reads && last ? { input: { of: `output("${last}")`, n: 1, list: ['now', null] } } : {}),
            retry: { maxAttempts: 2, backoff: '5s' },
          },
          next,
        );
        return;
      }
      case 'set_field':
        return void builder.setField(id, 'a.b', { x: 'input.name' }, next);
      case 'timer':
        return void builder.wait(id, { timer: '5 days' }, next);
      case 'event':
        return void builder.wait(
          id,
          { event: { key: '"a"', where: 'event.x == 1' }, timeout: '1h' },
          { done: next, timeout: next },
        );
      case 'emit_event':
        return void builder.emitEvent(id, { key: '"a:" + input.name' }, next);
      case 'start_workflow':
        return void builder.startWorkflow(id, { workflow: 'refund' }, next);
      case 'transition':
        return void builder.transition(id, { to: 'open' }, next);
      case 'loop': {
        const config =
          part.by === 'count'
            ? { count: 3 }
            : part.by === 'forEach'
              ? { forEach: 'input.items' }
              : { while: 'input.ok', max: 9 };
        const each = this.row(part.body, id, [...before, id], inBranch);
        return void builder.loop(id, config, { each, done: next });
      }
      case 'parallel': {
        const ways = part.branches.map((branch, at) => [`b${at}`, this.row(branch, id, before, true)] as const);
        const branches = ways.map(([outcome], at) =>
          part.join !== 'all' && at === 0 ? { outcome, when: 'input.ok' } : { outcome },
        );
        return void builder.parallel(id, { join: part.join, branches }, { ...Object.fromEntries(ways), done: next });
      }
      default: {
        const inside = [...before, ...(part.kind === 'condition' ? [] : [id])];
        const left = this.row(part.left, next, inside, inBranch);
        const right = part.right === 'end' ? (inBranch ? next : 'end') : this.row(part.right, next, inside, inBranch);
        if (part.kind === 'condition') builder.condition(id, 'input.amount >= 10', { true: left, false: right });
        else if (part.kind === 'score') builder.stage(id, 'acme.score', {}, { good: left, bad: right });
        else builder.approval(id, { approvers: 'approvers.cfo', rule: 'all' }, { approved: left, rejected: right });
      }
    }
  }
}

/** Graphs that are valid as they were made. */
export const validGraphs: fc.Arbitrary<Graph> = fc
  .record({
    row: parts,
    actor: fc.constantFrom('system' as const, 'on_behalf_of' as const),
    name: fc.string({ maxLength: 20, minLength: 1 }),
  })
  .map(({ row, actor, name }) => {
    const builder = graph('random', name)
      .input({
        type: 'object',
        properties: {
          amount: { type: 'number' },
          name: { type: 'string' },
          ok: { type: 'boolean' },
          items: { type: 'array' },
        },
      })
      .settings({ actor });
    const start = new Writer(builder).row(row, 'end', [], false);
    return builder.end('end', { outcome: 'done' }).start(start).build();
  })
  .filter(({ nodes, edges }) => nodes.length <= 200 && edges.length <= 400);

/** Builds a graph once more, node by node, by the builder. */
export function rebuild({ nodes, edges, triggers = [], ...head }: Graph): Graph {
  const builder = graph(head.id, head.name);
  if (head.description !== undefined) builder.describe(head.description);
  if (head.input !== undefined) builder.input(head.input);
  if (head.settings !== undefined) builder.settings(head.settings);
  if (head.start !== undefined) builder.start(head.start);
  for (const trigger of triggers) builder.trigger(trigger);
  for (const { id, type, ...options } of nodes) {
    const ways = edges.filter(({ from }) => from === id).map(({ outcome = 'done', to }) => [outcome, to] as const);
    builder.stage(id, type, options as never, Object.fromEntries(ways));
  }
  return builder.build();
}
