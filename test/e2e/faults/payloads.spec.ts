import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { startApp } from '../app.js';
import { AT_ONCE, flowOf, stageOf } from './scenes.js';

/** What the stages do next: each test says so. */
const acts: { first: (input: any) => unknown; seen: unknown[] } = { first: (input) => input, seen: [] };

const First = stageOf('first', (ctx) => acts.first(ctx.input));
const Second = stageOf('second', (ctx) => {
  acts.seen.push(ctx.input);
  return ctx.input;
});
const Straight = flowOf('straight', [First, Second], { retry: AT_ONCE });

const FALSY = [0, '', false, null] as const;
const branches = Object.fromEntries(FALSY.map((value, at) => [`b${at}`, stageOf(`falsy-${at}`, () => value)]));
const Join = stageOf('join', (ctx) => ({
  input: ctx.input,
  required: FALSY.map((_, at) => ctx.require(`b${at}`)),
  optional: FALSY.map((_, at) => ctx.optional(`b${at}`)),
}));
const Falsy = flowOf('falsy', [branches, Join]);

let parses = 0;
const counting = z.string().transform((text) => {
  parses++;
  return Number(text) + 1;
});
let coercions = 0;
const Parsing = stageOf(
  'parsing',
  (ctx) => {
    coercions++;
    if (coercions === 1) throw new Error('the first attempt fails');
    return String(ctx.input);
  },
  { input: counting, output: z.string().default('none') },
);
const Parses = flowOf('parses', [Parsing], { retry: AT_ONCE });

describe('payloads on their way through a real database', () => {
  let app: TestingModule;
  let database: FreshDatabase;
  let workflows: WorkflowService;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await freshDatabase();
    app = await startApp({
      database,
      providers: [First, Second, Straight, ...Object.values(branches), Join, Falsy, Parsing, Parses],
    });
    workflows = app.get(WorkflowService);
    dataSource = app.get(DataSource);
  });
  afterAll(() => app.close());
  beforeEach(() => {
    acts.first = (input) => input;
    acts.seen.length = 0;
  });

  const failing = async (first: () => unknown) => {
    acts.first = first;
    const { run } = await workflows.start(Straight, null);
    await expect(workflows.result(run)).rejects.toMatchObject({ code: 'RUN_FAILED' });
    return { run: await workflows.get(run), stages: (await workflows.history(run)).stages };
  };

  it.each([
    ['U+0000 in a text', { a: 'x\u0000y' }],
    ['U+0000 in a key', { 'a\u0000b': 1 }],
    ['a lone surrogate', { a: '\ud800', '\udfff': 'b' }],
    ['what an escape looks like', { a: '\\u0000', b: '\\\\u0000' }],
  ])('FAULT A1: %s comes back exactly', async (_, value) => {
    await expect(workflows.startAndWait(Straight, value)).resolves.toEqual(value);
    expect(acts.seen).toEqual([value]);
  });

  it('FAULT A1: an error with U+0000 and a lone surrogate fails the stage like any other', async () => {
    const { run, stages } = await failing(() => {
      throw Object.assign(new Error('a\u0000b \ud800'), { name: 'Bad\u0000Name' });
    });
    expect(run.failure).toMatchObject({ code: 'EXCEPTION', node: 'first' });
    expect(run.failure!.message).toMatch(/a.?b/);
    expect(stages[0]!.failedAttempts).toHaveLength(3);
  });

  it('FAULT A3: a stage that returns nothing is null for the next one, and in its history', async () => {
    acts.first = () => undefined;
    await expect(workflows.startAndWait(Straight, 1)).resolves.toBeNull();
    expect(acts.seen).toEqual([null]);
    const [latest] = (await workflows.list({ limit: 1 })).runs;
    expect((await workflows.history(latest!.id)).stages.map(({ output }) => output)).toEqual([null, null]);
  });

  it.each([
    ['$.d', () => ({ d: new Date(0) })],
    ['$.s', () => ({ s: new Set([1]) })],
    ['$.m', () => ({ m: new Map() })],
    ['$.f', () => ({ f: () => 1 })],
    ['$.n', () => ({ n: NaN })],
    ['$.i', () => ({ i: Infinity })],
    ['$.b', () => ({ b: 10n })],
    ['$.o', () => ({ o: new (class Money {})() })],
    ['$.l[0]', () => ({ l: [undefined] })],
  ])(
    'FAULT A5, FAULT A4, FAULT L9: what JSON can not hold at %s fails the first attempt for good',
    async (path, make) => {
      const { run, stages } = await failing(make);
      expect(run.failure).toMatchObject({ code: 'INVALID_OUTPUT', node: 'first' });
      expect(run.failure!.message).toContain(path);
      expect(stages[0]).toMatchObject({ attempt: 1, status: 'FAILED' });
      expect(acts.seen).toEqual([]);
    },
  );

  it('FAULT A6: the keys of a payload go through driver and ORM byte by byte', async () => {
    const value = {
      env: { OPENAI_BASE_URL: 'x', _a: 1, a_b_c: 2, aB: 3, 'a b': 4, '': 5 },
      Z: 1,
      '10': 2,
      a: [{}, []],
    };
    const { run } = await workflows.start(Straight, value);
    await expect(workflows.result(run)).resolves.toEqual(value);
    const text = JSON.stringify(value);
    const query = `SELECT r.input::text AS input, r.output::text AS output, s.output::text AS stage
      FROM workflow_runs r JOIN workflow_stage_runs s ON s.run_id = r.id WHERE r.id = $1 AND s.key = 'first'`;
    await expect(dataSource.query(query, [run.id])).resolves.toEqual([{ input: text, output: text, stage: text }]);
    expect(JSON.stringify((await workflows.get(run)).output)).toBe(text);
  });

  it('FAULT A7: one byte over the limit fails the stage for good with a preview, the limit itself is taken', async () => {
    const limit = 65_536;
    acts.first = () => 'x'.repeat(limit - 2);
    await expect(workflows.startAndWait(Straight, null)).resolves.toHaveLength(limit - 2);
    const { run, stages } = await failing(() => 'x'.repeat(limit - 1));
    expect(run.failure).toMatchObject({ code: 'INVALID_OUTPUT' });
    expect(run.failure!.message).toContain('65536');
    expect(run.failure!.message.length).toBeLessThan(1_500);
    expect(stages[0]).toMatchObject({ attempt: 1 });
  });

  it('FAULT A8: a message of 50 MB, a deep stack and 10,000 causes become one small row', async () => {
    const { run, stages } = await failing(() => {
      let cause: Error | undefined;
      for (let depth = 0; depth < 10_000; depth++) cause = new Error(`cause ${depth}`, { cause });
      const error = new Error('x'.repeat(50_000_000), { cause });
      error.stack = `Error: x\n${Array.from({ length: 10_000 }, (_, at) => `    at f${at} (file.js:1:1)`).join('\n')}`;
      throw error;
    });
    expect(run.failure!.message.length).toBeLessThanOrEqual(1_500);
    expect(stages[0]!.failedAttempts).toHaveLength(3);
    const [{ bytes }] = await dataSource.query(
      'SELECT max(pg_column_size(a.*))::int AS bytes FROM workflow_attempts a WHERE run_id = $1',
      [run.id],
    );
    expect(bytes).toBeLessThan(100_000);
  });

  it('FAULT A9: an error that refers to itself is retried, then fails the run with its message', async () => {
    const { run, stages } = await failing(() => {
      const error: any = new Error('Request failed');
      error.self = error;
      error.response = { request: { res: null } };
      error.response.request.res = error.response;
      error.cause = error;
      throw error;
    });
    expect(run.failure).toMatchObject({ code: 'EXCEPTION', message: expect.stringContaining('Request failed') });
    expect(stages[0]!.failedAttempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('FAULT A11: __proto__ in an input stays a key of its own and pollutes nothing', async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}';
    const output = await workflows.startAndWait(Straight, JSON.parse(text));
    expect(JSON.stringify(output)).toBe(text);
    expect(JSON.stringify(acts.seen[0])).toBe(text);
    expect(({} as any).polluted).toBeUndefined();
  });

  it('FAULT A13: a join sees 0, the empty text, false and null as what they are', async () => {
    const values = [...FALSY];
    await expect(workflows.startAndWait(Falsy, null)).resolves.toEqual({
      input: { b0: 0, b1: '', b2: false, b3: null },
      required: values,
      optional: values,
    });
  });

  it('FAULT A20: an input is parsed once an attempt, from what was stored raw, also by the retry', async () => {
    const { run } = await workflows.start(Parses, '41');
    await expect(workflows.result(run)).resolves.toBe('42');
    expect(parses).toBe(2);
    await expect(workflows.get(run)).resolves.toMatchObject({ input: '41' });
  });
});
