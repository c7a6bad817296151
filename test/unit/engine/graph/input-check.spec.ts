import { inputCheck } from '../../../../lib/engine/graph/index.js';
import type { GraphInputPart } from '../../../../lib/engine/graph/input-schema.js';

async function issuesOf(schema: GraphInputPart, value: unknown): Promise<string[]> {
  const result = await inputCheck(schema)!.safeParseAsync(value);
  if (result.success) {
    expect(result.data).toBe(value);
    return [];
  }
  return result.error.issues.map(({ path, message }) => `${JSON.stringify(path)} ${message}`);
}

describe('the input of a graph', () => {
  it('GRAPH-1: is anything where the graph says nothing', () => {
    expect(inputCheck(undefined)).toBe(null);
  });

  it.each<[GraphInputPart, unknown, unknown]>([
    [{}, 'anything', undefined],
    [{ type: 'string' }, '', 1],
    [{ type: 'number' }, 1.5, '1'],
    [{ type: 'integer' }, 2, 1.5],
    [{ type: 'boolean' }, false, 0],
    [{ type: 'null' }, null, {}],
    [{ type: 'array' }, [], {}],
    [{ type: 'object' }, {}, []],
    [{ type: ['string', 'null'] }, null, 1],
    [{ enum: ['a', { b: 1, c: 2 }] }, { c: 2, b: 1 }, 'c'],
    [{ const: 5 }, 5, 6],
    [{ minimum: 1, maximum: 2 }, 2, 3],
    [{ minimum: 1, maximum: 2 }, 1, 0],
    [{ minLength: 1, maxLength: 2 }, '😀😀', 'abc'],
    [{ minLength: 2 }, 'ab', '😀'],
    [{ minItems: 1, maxItems: 2 }, [1], []],
    [{ minItems: 1, maxItems: 2 }, [1, 2], [1, 2, 3]],
    [{ format: 'date' }, '2030-01-31', '2030-02-31'],
    [{ format: 'date-time' }, '2030-01-31T10:00:00+02:00', 'soon'],
    [{ format: 'time' }, '10:00:00', '25:00:00'],
    [{ format: 'duration' }, 'P1D', '1 day'],
    [{ format: 'email' }, 'ada@example.com', 'ada'],
    [{ format: 'uri' }, 'https://example.com/x', 'x y'],
    [{ format: 'uuid' }, '018f0000-0000-7000-8000-000000000000', '7'],
  ])('GRAPH-1: %j takes %j and not %j', async (schema, right, wrong) => {
    expect(await issuesOf(schema, right)).toEqual([]);
    if (Object.keys(schema).length > 0) expect(await issuesOf(schema, wrong)).toHaveLength(1);
  });

  it('GRAPH-1: says every fault with its place', async () => {
    const schema: GraphInputPart = {
      type: 'object',
      properties: { people: { type: 'array', items: { type: 'object', required: ['name'] } }, __proto__x: {} },
      required: ['amount', 'toString'],
      additionalProperties: false,
    };
    const value = { people: [{ name: 'Ada' }, {}, 7], constructor: 1 };
    expect(await issuesOf(schema, value)).toEqual([
      '["amount"] is missing',
      '["toString"] is missing',
      '["people",1,"name"] is missing',
      '["people",2] must be of type object',
      '["constructor"] is not a field of this input',
    ]);
    expect(await issuesOf({ type: 'object' }, undefined)).toEqual(['[] is missing']);
  });

  it('LIMIT-5: says a hundred faults at most', async () => {
    const many = Array.from({ length: 500 }, () => 'x');
    expect(await issuesOf({ items: { type: 'number' } }, many)).toHaveLength(100);
    const fields = Object.fromEntries(many.map((_, at) => [`f${at}`, 1]));
    expect(await issuesOf({ type: 'object', additionalProperties: false }, fields)).toHaveLength(100);
  });
});
