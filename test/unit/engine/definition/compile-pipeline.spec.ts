import { z } from 'zod';
import { definitionKey } from '../../../../lib/engine/definition/index.js';
import { compile, complaintsOf, DEFAULTS, policy, stageClass } from './pipelines.js';

const A = stageClass('a');
const B = stageClass('b');
const C = stageClass('c');

describe('compilePipeline', () => {
  it('DEF-2: a pipeline compiles to nodes in order, a group to one node with its branches', async () => {
    const { definition } = await compile((flow) =>
      flow
        .pipe(A)
        .parallel({ left: B, right: { stage: C } })
        .pipe(B, { key: 'again' }),
    );

    expect(definition).toMatchObject({ id: 'analysis', version: 1, kind: 'pipeline' });
    expect(
      definition.nodes.map(({ key, index, parallel, stages }) => ({
        key,
        index,
        parallel,
        stages: stages.map((stage) => [stage.key, stage.stage]),
      })),
    ).toEqual([
      { key: 'a', index: 0, parallel: false, stages: [['a', 'a']] },
      {
        key: 'parallel-1',
        index: 1,
        parallel: true,
        stages: [
          ['left', 'b'],
          ['right', 'c'],
        ],
      },
      { key: 'again', index: 2, parallel: false, stages: [['again', 'b']] },
    ]);
    expect(definition.settings).toEqual({
      queue: null,
      maxStageRuns: 200,
      startsPerMinute: null,
      deadlineMs: null,
      actor: 'system',
    });
  });

  it('DEF-2: what a definition and its nodes say goes before what their stages say', async () => {
    const D = stageClass('d', { timeoutMs: 1_000, queue: 'slow', hasCancelHook: true });
    const when = () => true;
    const { definition } = await compile(
      (flow) => flow.pipe(D).pipe(D, { key: 'd2', timeout: '5s', queue: 'fast', when }),
      {
        settings: {
          queue: 'all',
          deadline: '2 h',
          actor: 'on_behalf_of',
          limits: { maxStageRuns: 10, startsPerMinute: 5 },
        },
      },
    );

    expect(definition.settings).toEqual({
      queue: 'all',
      maxStageRuns: 10,
      startsPerMinute: 5,
      deadlineMs: 7_200_000,
      actor: 'on_behalf_of',
    });
    expect(definition.nodes[0]?.stages[0]).toMatchObject({
      timeoutMs: 1_000,
      queue: 'slow',
      hasCancelHook: true,
      when: null,
    });
    expect(definition.nodes[1]?.stages[0]).toMatchObject({ timeoutMs: 5_000, queue: 'fast', when });
  });

  it('RETRY-1: the most specific policy counts, whole: node, definition, stage type, module; all capped', async () => {
    const Own = stageClass('own', { retry: policy(4) });
    const attempts = async (...given: Parameters<typeof compile>) => {
      const { definition } = await compile(...given);
      return definition.nodes.map(({ stages }) => stages[0]?.retry.maxAttempts);
    };

    const define: Parameters<typeof compile>[0] = (flow) =>
      flow
        .pipe(A)
        .pipe(Own)
        .pipe(B, { retry: { maxAttempts: 6 } });
    expect(await attempts(define)).toEqual([3, 4, 6]);
    expect(await attempts(define, { settings: { retry: { maxAttempts: 5 } } })).toEqual([5, 5, 6]);
    expect(await attempts(define, {}, { ...DEFAULTS, maxAttemptsCap: 2 })).toEqual([2, 2, 2]);
  });

  it('DEF-4: the result is frozen, its config too, and the host’s own object is not', async () => {
    const Configured = stageClass('configured', { config: z.any() });
    const given = { deep: { list: [1] } };
    const { definition } = await compile((flow) => flow.pipe(Configured, { config: given }));

    const stage = definition.nodes[0]!.stages[0]!;
    const parts = [
      definition,
      definition.nodes,
      definition.nodes[0],
      definition.nodes[0]!.stages,
      stage,
      definition.settings,
    ];
    const config = stage.config as typeof given;
    for (const part of [...parts, config, config.deep, config.deep.list]) expect(Object.isFrozen(part)).toBe(true);
    expect(Object.isFrozen(given.deep)).toBe(false);
    expect(config).toEqual(given);
  });

  describe('config', () => {
    const Configured = stageClass('with-config', {
      config: z.object({
        top: z.number().refine(async (top) => top > 0, 'must be above 0'),
        size: z.number().default(7),
      }),
    });
    const Defaulted = stageClass('with-defaults', { config: z.object({ size: z.number().default(7) }) });
    const configOf = async (...given: Parameters<typeof compile>) =>
      (await compile(...given)).definition.nodes[0]?.stages[0]?.config;

    it('DEF-5: config is parsed once, with defaults, and may be left out where all of it has some', async () => {
      expect(await configOf((flow) => flow.pipe(Configured, { config: { top: 1 } }))).toEqual({ top: 1, size: 7 });
      expect(await configOf((flow) => flow.pipe(Defaulted))).toEqual({ size: 7 });
      expect(await configOf((flow) => flow.pipe(A))).toBeUndefined();
    });

    it('DEF-5: what does not fit is told with the path of each issue, of async refinements too', async () => {
      expect(await complaintsOf((flow) => flow.pipe(Configured, { config: { top: -1 } }))).toEqual([
        { place: 'Analysis (AppModule), node 1 with-config', problem: 'config.top: must be above 0' },
      ]);
      const [missing] = await complaintsOf((flow) => flow.pipe(Configured));
      expect(missing?.problem).toContain('config.top: ');
      const [unwanted] = await complaintsOf((flow) => flow.pipe(A, { config: {} }));
      expect(unwanted?.problem).toContain('declares no config schema');
    });

    it('DEF-5: a schema that throws is a complaint', async () => {
      const Throwing = stageClass('throwing', {
        config: z.any().refine(() => {
          throw new Error('no connection');
        }),
      });
      const [complaint] = await complaintsOf((flow) => flow.pipe(Throwing, { config: 1 }));
      expect(complaint?.problem).toContain('no connection');
    });

    it('DEF-5: a schema may make of JSON what JSON can’t hold; what is no JSON to begin with is refused with its path', async () => {
      const Pattern = stageClass('pattern', {
        config: z.object({ like: z.string().transform((text) => new RegExp(text)) }),
      });
      const define =
        (like: string): Parameters<typeof compile>[0] =>
        (flow) =>
          flow.pipe(Pattern, { config: { like } });
      expect(await configOf(define('^a'))).toEqual({ like: /^a/ });
      expect((await compile(define('^a'))).structure).not.toBe((await compile(define('^b'))).structure);

      const Raw = stageClass('raw', { config: z.object({ like: z.instanceof(RegExp) }) });
      const [complaint] = await complaintsOf((flow) => flow.pipe(Raw, { config: { like: /a/ } }));
      expect(complaint?.problem).toContain('$.like');
    });
  });

  describe('fingerprint', () => {
    const Configured = stageClass('fingerprinted', { config: z.object({ a: z.number(), b: z.number().default(2) }) });
    const base: Parameters<typeof compile>[0] = (flow) => flow.pipe(A).pipe(Configured, { config: { a: 1 } });
    const fingerprint = async (...given: Parameters<typeof compile>) =>
      (await compile(...given)).definition.fingerprint;

    it('DEF-4: is 16 hex digits, the same for every build that means the same', async () => {
      expect(await fingerprint(base)).toMatch(/^[0-9a-f]{16}$/);
      const same: Parameters<typeof compile>[0] = (flow) =>
        flow
          .pipe(A, { retry: { maxAttempts: 7 }, timeout: '5s', queue: 'q' })
          .pipe(Configured, { config: { b: 2, a: 1 } });
      expect(await fingerprint(same)).toBe(await fingerprint(base));
      expect(await fingerprint((flow) => flow.pipe(A, { when: () => true }))).toBe(
        await fingerprint((flow) => flow.pipe(A, { when: ({ input }: { input: unknown }) => !!input })),
      );
    });

    it.each<[string, Parameters<typeof compile>[0]]>([
      ['another config', (flow) => flow.pipe(A).pipe(Configured, { config: { a: 2 } })],
      ['another key', (flow) => flow.pipe(A, { key: 'first' }).pipe(Configured, { config: { a: 1 } })],
      ['another order', (flow) => flow.pipe(Configured, { config: { a: 1 } }).pipe(A)],
      ['another stage under the same key', (flow) => flow.pipe(B, { key: 'a' }).pipe(Configured, { config: { a: 1 } })],
      [
        'one more stage',
        (flow) =>
          flow
            .pipe(A)
            .pipe(Configured, { config: { a: 1 } })
            .pipe(B),
      ],
      ['a group of one', (flow) => flow.parallel({ a: A }).pipe(Configured, { config: { a: 1 } })],
      ['a condition', (flow) => flow.pipe(A, { when: () => true }).pipe(Configured, { config: { a: 1 } })],
    ])('DEF-4: changes with %s', async (_, define) => {
      expect(await fingerprint(define)).not.toBe(await fingerprint(base));
    });

    it('DEF-4: the definition key says id, version and fingerprint', async () => {
      const { definition } = await compile(base);
      expect(definitionKey(definition)).toBe(`analysis@1#${definition.fingerprint}`);
    });
  });
});
