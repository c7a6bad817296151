import { WorkflowService } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { z as v3 } from 'zod/v3';
import { z as v4 } from 'zod/v4';
import * as mini from 'zod/mini';
import { buildApp, withApp } from '../app.js';
import { flowOf, stageOf } from './scenes.js';

/** Zod as a host would have it that installed one of its own: other classes, other registries. */
function secondCopy(): typeof z {
  let copy!: { z: typeof z };
  jest.isolateModules(() => (copy = jest.requireActual<{ z: typeof z }>('zod')));
  return copy.z;
}

const other = secondCopy();

const KINDS: Record<string, () => Record<'input' | 'output' | 'config', any>> = {
  zod: () => ({
    input: z.object({ n: z.number().int() }),
    output: z.string().refine(async (text) => text !== 'bad'),
    config: z.object({ by: z.number().default(2) }),
  }),
  'a second copy of zod': () => ({
    input: other.object({ n: other.number().int() }),
    output: other.string().refine(async (text) => text !== 'bad'),
    config: other.object({ by: other.number().default(2) }),
  }),
  'zod/v3': () => ({
    input: v3.object({ n: v3.number().int() }),
    output: v3.string().refine(async (text) => text !== 'bad'),
    config: v3.object({ by: v3.number().default(2) }),
  }),
  'zod/v4': () => ({
    input: v4.object({ n: v4.number().int() }),
    output: v4.string().refine(async (text) => text !== 'bad'),
    config: v4.object({ by: v4.number().default(2) }),
  }),
  'zod/mini': () => ({
    input: mini.object({ n: mini.int() }),
    output: mini.string().check(mini.refine(async (text: string) => text !== 'bad')),
    config: mini.object({ by: mini._default(mini.number(), 2) }),
  }),
};

it('FAULT H13: the second copy of zod is another one', () => {
  expect(other.ZodObject).not.toBe(z.ZodObject);
});

it.each(Object.keys(KINDS))('FAULT H13: schemas of %s check input, config and output', async (kind) => {
  const { input, output, config } = KINDS[kind]!();
  const double = ({ input: { n }, config: { by } }: any): unknown => (n < 0 ? 'bad' : n === 0 ? n : String(n * by));
  const Double = stageOf('double', double, { input, output, config });
  const Doubling = flowOf('doubling', [Double], { input });
  await withApp({ providers: [Double, Doubling] }, async (app) => {
    const workflows = app.get(WorkflowService);
    await expect(workflows.startAndWait(Doubling, { n: 21 })).resolves.toBe('42');
    await expect(workflows.start(Doubling, { n: 1.5 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['n'] }],
    });
    const wrong = { code: 'RUN_FAILED', failureCode: 'INVALID_OUTPUT', node: 'double' };
    await expect(workflows.startAndWait(Doubling, { n: 0 })).rejects.toMatchObject(wrong);
    await expect(workflows.startAndWait(Doubling, { n: -1 })).rejects.toMatchObject(wrong);
  });
});

it.each([
  ['a plain object', { type: 'object' }],
  [
    'a Standard Schema that is not zod',
    { '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } },
  ],
  ['a class', class Dto {}],
])('FAULT H13: %s where a schema belongs stops the app with a sentence', async (_, schema: any) => {
  const Double = stageOf('double', () => 1, { input: schema });
  const app = await buildApp({ providers: [Double, flowOf('doubling', [Double], { input: schema })] });
  const error: any = await app.init().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'INVALID_DEFINITION' });
  expect(error.message).toMatch(/input is .*, not a schema/);
  expect(error.message).toContain('Give a zod schema');
  await app.close();
});
