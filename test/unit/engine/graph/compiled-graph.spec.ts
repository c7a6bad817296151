import { ExpressionValues } from '../../../../lib/engine/expression/index.js';
import {
  type CompiledGraph,
  evaluateMapping,
  GRAPH_JSON_SCHEMA,
  GRAPH_SCHEMA,
  validateGraph,
} from '../../../../lib/engine/graph/index.js';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/engine/retry/index.js';
import { CATALOGUE, everyType, expenseApproval } from './graphs.js';

async function compiled(graph: unknown, catalogue = CATALOGUE): Promise<CompiledGraph> {
  const validation = await validateGraph(graph, catalogue);
  if (!validation.ok) throw new Error(validation.problems.map(({ message }) => message).join('\n'));
  return validation.graph;
}

describe('a compiled graph', () => {
  it('GRAPH-1: knows what follows what, and what each node is given', async () => {
    const graph = await compiled(expenseApproval());
    expect(graph.start).toBe('large');
    expect(graph.settings).toEqual({
      actor: 'on_behalf_of',
      maxStageRuns: 50,
      startsPerMinute: 60,
      deadlineMs: null,
      queue: null,
    });
    const [large, sign, pay] = graph.nodes;
    expect([...large!.edges]).toEqual([
      ['true', 'sign'],
      ['false', 'pay'],
    ]);
    expect(large!.expressions.get('if')?.evaluate(new ExpressionValues({ input: { amount: 1200.5 } }))).toEqual({
      ok: true,
      value: true,
    });
    expect(sign!.escalations).toMatchObject([
      { afterMs: 2 * 86_400_000, type: 'notify', to: { text: 'approvers.cfo' } },
    ]);
    expect(pay).toMatchObject({ config: { method: 'sepa', days: 3 }, builtIn: false, skipOutcome: 'done' });
    expect(pay!.retry).toMatchObject({ maxAttempts: 5, backoff: { delaysMs: [10_000, 60_000, 300_000] } });
    expect(sign!.retry).toMatchObject({ maxAttempts: 5, backoff: { delaysMs: [10_000, 60_000] } });
    expect(evaluateMapping(pay!.input!, new ExpressionValues({ input: { amount: 7 } }))).toEqual({
      ok: true,
      value: { amount: 7, kind: 'expense', tries: 3 },
    });
    expect(evaluateMapping(pay!.input!, new ExpressionValues({ input: {} }))).toEqual({
      ok: false,
      problem: '$.amount: No such key: amount, at input.amount; has(input.amount) asks whether it is there',
    });
  });

  it('GRAPH-4: knows of each node the body that it stands in', async () => {
    const { nodes } = await compiled(everyType());
    const bodies = Object.fromEntries(nodes.map(({ id, body }) => [id, body && `${body.block}/${body.outcome}`]));
    expect(bodies).toMatchObject({
      'each-item': null,
      where: 'each-item/each',
      both: 'each-item/each',
      note: 'both/note',
      score: 'both/score',
      good: 'both/score',
      thrice: 'each-item/each',
      tell: 'thrice/each',
      patient: null,
      sub: 'again/each',
      end: null,
    });
  });

  it('GRAPH-2: is frozen, and a fingerprint tells graphs apart that run otherwise', async () => {
    const graph = await compiled(expenseApproval());
    expect(Object.isFrozen(graph.source.nodes[0]!.config)).toBe(true);
    expect(Object.isFrozen(graph.nodes[2]!.config)).toBe(true);
    const renamed = { ...expenseApproval(), name: 'Another', description: 'name' };
    expect((await compiled(renamed)).fingerprint).toBe(graph.fingerprint);
    const other = expenseApproval();
    other.nodes[0]!.config = { if: 'input.amount >= 999' };
    expect((await compiled(other)).fingerprint).not.toBe(graph.fingerprint);
  });

  it('GRAPH-2: only the input that was given is looked at, once: changing it later changes nothing', async () => {
    const given = expenseApproval();
    const graph = await compiled(given);
    given.nodes[0]!.config = { if: 'false' };
    expect(graph.source.nodes[0]!.config).toEqual({ if: 'input.amount >= 1000' });
  });

  it('LIMIT-5: what is too large is refused before any of it is looked at', async () => {
    const untouchable = (length: number) =>
      new Proxy(Array(length).fill(null), {
        get: (list, key) => {
          if (key !== 'length') throw new Error(`looked at ${String(key)}`);
          return list.length;
        },
      });
    const graph = { id: 'x', nodes: untouchable(201), edges: untouchable(10_000) };
    const validation = await validateGraph(graph, CATALOGUE);
    expect(validation.ok ? [] : validation.problems.map(({ message }) => message)).toEqual([
      'The list of nodes has a size of 201, over maxNodes = 200. Split it into several workflows.',
      'The list of edges has a size of 10000, over maxEdges = 400. Split it into several workflows.',
    ]);
  });

  it('LIMIT-4, LIMIT-5: the limits are those of the app', async () => {
    const limits = { maxNodes: 17, maxLoopIterations: 2 };
    const validation = await validateGraph(everyType(), { ...CATALOGUE, limits: { ...limits, maxNodes: 100 } });
    expect(validation.ok ? [] : validation.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'INVALID_CONFIG $.nodes[6].config.count',
      'INVALID_CONFIG $.nodes[9].config.max',
    ]);
    const small = await validateGraph(everyType(), { ...CATALOGUE, limits });
    expect(small.ok ? [] : small.problems.map(({ code }) => code)).toEqual(['GRAPH_TOO_LARGE']);
  });

  it('LIMIT-3: a graph is started 60 times a minute at most, or as often as the app allows, and may only lower that', async () => {
    const defaults = { retry: DEFAULT_RETRY_POLICY, maxAttemptsCap: 10, maxStageRuns: 200, startsPerMinute: 500 };
    const limited = (startsPerMinute: number) => ({ ...expenseApproval(), settings: { limits: { startsPerMinute } } });
    expect((await compiled(expenseApproval(), { ...CATALOGUE, defaults })).settings.startsPerMinute).toBe(500);
    expect((await compiled(limited(5))).settings.startsPerMinute).toBe(5);
    await expect(compiled(limited(61))).rejects.toThrow('above the module');
  });

  it('GRAPH-2: what is not known of the app is not complained about', async () => {
    const { types } = CATALOGUE;
    const graph = everyType();
    graph.nodes[10]!.config = { workflow: 'whatever' };
    await expect(compiled(graph, { types })).resolves.toMatchObject({ id: 'every-type' });
  });
});

describe('the schema of graphs', () => {
  it('GRAPH-1: takes what is valid, and refuses unknown fields and other types', () => {
    expect(GRAPH_SCHEMA.safeParse(everyType()).success).toBe(true);
    expect(GRAPH_SCHEMA.safeParse({ ...everyType(), colour: 1 }).success).toBe(false);
    expect(GRAPH_SCHEMA.safeParse({ ...everyType(), settings: { deadline: 5_000 } }).success).toBe(false);
  });

  it('GRAPH-1: is there as JSON Schema, closed everywhere, with each built-in type', () => {
    const text = JSON.stringify(GRAPH_JSON_SCHEMA);
    expect(GRAPH_JSON_SCHEMA).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['id', 'nodes', 'edges'],
    });
    for (const type of [
      'condition',
      'branch',
      'set_field',
      'loop',
      'parallel',
      'end',
      'wait',
      'approval',
      'start_workflow',
      'emit_event',
      'transition',
    ])
      expect(text).toContain(`"const":"${type}"`);
    expect(JSON.parse(text)).toEqual(GRAPH_JSON_SCHEMA);
  });
});
