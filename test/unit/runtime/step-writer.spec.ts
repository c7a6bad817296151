import type { StepWrite } from '../../../lib/engine/ports/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { BrokenStore, DataError, TransientError } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal } from './support/signals.js';
import { TestEngine } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function engineOf(execute: (ctx: StageContext) => unknown) {
  const store = new BrokenStore();
  const flow = workflow('flow', [{ key: 'a', execute, retry: { maxAttempts: 1 } }]);
  const engine = new TestEngine([flow], { wrap: store.wrap });
  engines.push(engine);
  return { engine, flow, store };
}

const child = workflow('child', [{ key: 'c', execute: () => 'of a child' }]);

it.each<[string, (write: StepWrite) => boolean]>([
  ['the begin of a step', ({ op }) => op === 'begin'],
  ['the end of a step', (write) => write.op === 'finish' && write.kind === 'run' && write.outcome.kind === 'completed'],
  ['a try that failed', (write) => write.op === 'finish' && write.outcome.kind === 'again'],
  ['the end of a poll', (write) => write.op === 'finish' && write.kind === 'poll'],
  ['a kept effect', (write) => write.op === 'finish' && write.kind === 'once'],
  ['a child that nobody waits for', (write) => write.op === 'finish' && write.kind === 'child'],
  ['a wait beside a step', ({ op }) => op === 'wait'],
])('LEASE-5: a write whose answer was lost is not taken for a lost lease: %s', async (_what, isIt) => {
  const did: string[] = [];
  const waited = signal();
  const store = new BrokenStore();
  const flow = workflow('flow', [
    {
      key: 'a',
      execute: async (ctx) => {
        const tried = await ctx.step.run(
          'step',
          ({ attempt }) => {
            did.push('step');
            if (attempt === 1) throw new Error('once more');
            return 'stepped';
          },
          { retry: { maxAttempts: 2, backoff: 0, jitter: 0 } },
        );
        const polled = await ctx.step.waitFor('poll', () => 'polled', { every: '1h' });
        const kept = await ctx.once('effect', () => (did.push('effect'), 'kept'));
        const { runId } = (await ctx.step.runWorkflow('child', 'child', null, { wait: false })) as { runId: string };
        await Promise.race([ctx.step.sleep('nap', '1h'), ctx.step.run('beside', () => waited)]);
        return [tried, polled, kept, typeof runId];
      },
      retry: { maxAttempts: 1 },
    },
  ]);
  const engine = new TestEngine([flow, child], { wrap: store.wrap });
  engines.push(engine);
  let lost = 0;
  store.instead.writeSteps = async (real, writes) => {
    const verdicts = await real(writes);
    if (writes.some(({ op }) => op === 'wait')) setImmediate(() => waited.fire());
    if (!writes.some(isIt) || lost++ > 0) return verdicts;
    throw new TransientError('the answer is lost');
  };
  const runId = await engine.start(flow);
  await engine.drain();
  expect(lost).toBeGreaterThan(0);
  expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
  expect(await engine.output(runId)).toEqual(['stepped', 'polled', 'kept', 'string']);
  expect(did).toEqual(['step', 'step', 'effect']);
  expect((await engine.history(runId)).stageRuns[0]).toMatchObject({ attempt: 1, losses: 0 });
});

it('FAULT A1: a step that the store can not hold fails its own stage, and nobody in its group', async () => {
  const [entered, goOn] = [signal(), signal()];
  let inside = 0;
  const { engine, flow, store } = engineOf(async ({ step, input }) => {
    await step.run('together', async () => {
      if (++inside === 3) entered.fire();
      await goOn;
      return input;
    });
    return input;
  });
  store.instead.writeSteps = async (real, writes) => {
    const refused = writes.some((write) => write.op === 'finish' && JSON.stringify(write.outcome).includes('bad'));
    if (refused) throw new DataError('unsupported value');
    return real(writes);
  };
  const runIds = await Promise.all(['good', 'bad', 'better'].map((input) => engine.start(flow, input)));
  const drained = engine.drain();
  await entered;
  goOn.fire();
  await drained;
  const ends = await Promise.all(runIds.map(async (runId) => (await engine.history(runId)).run.status));
  expect(ends).toEqual(['COMPLETED', 'FAILED', 'COMPLETED']);
  // The group, then each alone.
  const groups = store.argsOf('writeSteps').map(([writes]) => (writes as StepWrite[]).length);
  expect(groups).toEqual([3, 3, 1, 1, 1]);
});
