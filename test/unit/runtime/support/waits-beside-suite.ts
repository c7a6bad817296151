import type { StageContext } from '../../../../lib/interfaces/index.js';
import { workflow } from './pipeline.js';
import { signal } from './signals.js';
import { TestEngine, type TestEngineGiven } from './test-engine.js';

/**
 * What ends the waits of a body that goes on, on whichever store `given` names. Each body races a wait against a step that ends
 * only when the test says so: it comes to an end through its wait, or not at all.
 */
export function describeWaitsBeside(given: () => Promise<TestEngineGiven>): void {
  const engines: TestEngine[] = [];
  let goOn = signal();
  beforeEach(() => {
    goOn = signal();
  });
  afterEach(async () => {
    goOn.fire();
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
  });

  async function engineOf(body: (ctx: StageContext, engine: TestEngine) => unknown) {
    const flow = workflow('flow', [{ key: 'a', execute: (ctx: StageContext) => body(ctx, engine) }]);
    const child = workflow('child', [{ key: 'c', execute: () => 'grown up' }]);
    const engine: TestEngine = new TestEngine([flow, child], await given());
    engines.push(engine);
    return { engine, flow };
  }

  const goesOn = ({ step }: StageContext): Promise<unknown> => step.run('goes on', () => goOn);

  it('WAIT-3: a signal that lies there reaches it at once', async () => {
    const { engine, flow } = await engineOf((ctx) => Promise.race([ctx.step.waitForSignal('stop'), goesOn(ctx)]));
    const runId = await engine.start(flow);
    expect(await engine.signal(runId, 'stop', 'now')).toBe('stored');
    await engine.drain();
    expect(await engine.output(runId)).toBe('now');
  });

  it('STEP-9: so does what a child came to that had ended before it was awaited', async () => {
    const { engine, flow } = await engineOf(async (ctx, self) => {
      const child = ctx.step.runWorkflow('child', 'child', null);
      await ctx.step.run('let it end', async () => {
        await self.drain();
        await self.runtime.family.runOnce();
      });
      return Promise.race([child, goesOn(ctx)]);
    });
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toBe('grown up');
  });

  it('WAKE-6: so does the end of its time, though nobody passes or suspends', async () => {
    const waits = signal();
    const { engine, flow } = await engineOf((ctx) =>
      Promise.race([
        ctx.step.sleep('nap', '50 ms').then(() => 'slept'),
        ctx.step.waitForSignal('stop', { timeout: '1h' }),
        ctx.step.run('goes on', () => (waits.fire(), goOn)),
      ]),
    );
    engine.runtime.waitTimer.start();
    const runId = await engine.start(flow);
    const draining = engine.drain();
    await waits;
    while ((await ledgerOf(engine, runId)).every(({ status }) => status !== 'waiting')) await turn();
    engine.passTime(60);
    await draining;
    expect(await engine.output(runId)).toBe('slept');
    expect(await engine.jobCount(runId)).toBe(0);
  });

  it('WAIT-3: so does an event that was stored before', async () => {
    const { engine, flow } = await engineOf((ctx) =>
      Promise.race([ctx.step.waitForEvent('paid', { key: 'paid', where: 'event.amount > 5' }), goesOn(ctx)]),
    );
    for (const amount of [1, 10]) await engine.emit('paid', { amount });
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.output(runId)).toEqual({ amount: 10 });
  });

  it('WAIT-2: what it still waited for when it ended is cancelled', async () => {
    const { engine, flow } = await engineOf((ctx) => Promise.race([ctx.step.waitForSignal('stop'), ctx.local(turn)]));
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
    expect((await ledgerOf(engine, runId)).filter(({ status }) => status === 'waiting')).toEqual([]);
  });
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function ledgerOf(engine: TestEngine, runId: string) {
  const { stageRuns } = await engine.history(runId);
  return engine.store.readLedger(stageRuns.map(({ id }) => id));
}
