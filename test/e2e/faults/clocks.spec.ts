import type { WakeReport } from 'nestjs-workflow-engine';
import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { setHostClock } from '../../support/host-clock.js';
import { forkProcess, type TestProcess } from '../../support/processes.js';
import { signal, withApp } from '../app.js';
import { flowOf, stageOf } from './scenes.js';

const MINUTE = 60_000;

/** A process whose clock is wrong by minutes; the database's, and this one's, are right. */
async function spawnSkewed(database: FreshDatabase, minutes: number, workflow: object): Promise<TestProcess> {
  const env = {
    DATABASE_URL: database.url,
    WORKFLOW: JSON.stringify(workflow),
    CLOCK_SKEW_MS: String(minutes * MINUTE),
  };
  const other = forkProcess('test/e2e/faults/fault.process.ts', { env });
  const { now } = await other.waitFor<{ now: number }>('ready');
  expect(Math.abs(now - Date.now() - minutes * MINUTE)).toBeLessThan(MINUTE);
  return other;
}

describe('hosts whose clocks are wrong', () => {
  it.each([6])('FAULT B3: one that is %i minutes off takes no lease away from a living holder', async (minutes) => {
    const database = await freshDatabase();
    const [entered, opened] = [signal(), signal()];
    const Held = stageOf('held', async () => {
      entered.resolve();
      await opened.promise;
      return process.pid;
    });
    const Holding = flowOf('holding', [Held]);
    // The default lease of 5 minutes, and no heartbeat within the test.
    await withApp({ database, providers: [Held, Holding] }, async (app) => {
      const workflows = app.get(WorkflowService);
      const { run } = await workflows.start(Holding, null);
      await entered.promise;
      const skewed = await spawnSkewed(database, minutes, { wake: { every: 50 }, worker: { pollInterval: 50 } });
      skewed.send('wake', { times: 20 });
      const { reports } = await skewed.waitFor<{ reports: WakeReport[] }>('woken');
      const untouched = { reclaimed: 0, requeued: 0, stuck: 0, timeouts: 0, pruned: 0, errors: [] };
      expect(reports).toEqual(reports.map(() => expect.objectContaining(untouched)));
      opened.resolve();
      await expect(workflows.result(run)).resolves.toBe(process.pid);
      await expect(workflows.history(run)).resolves.toMatchObject({
        stages: [{ attempt: 1, losses: 0, failedAttempts: [] }],
      });
      await skewed.kill('SIGTERM');
    });
  });

  it.each([-10])('FAULT B3: what one that is %i minutes off starts is due at once, and runs there', async (minutes) => {
    const database = await freshDatabase();
    const skewed = await spawnSkewed(database, minutes, { worker: false });
    skewed.send('start', { runs: 3 });
    const { ids } = await skewed.waitFor<{ ids: string[] }>('started');
    const [Step, Quick] = [stageOf('step', () => 'done'), stageOf('quick', (ctx) => ctx.input)];
    const Steps = flowOf('steps', [Step, { left: Quick, right: Quick }]);
    await withApp({ database, providers: [Step, Quick, Steps] }, async (app) => {
      const workflows = app.get(WorkflowService);
      for (const id of ids) {
        await expect(workflows.result(id)).resolves.toEqual({ left: 'done', right: 'done' });
        const { createdAt, finishedAt } = await workflows.get(id);
        for (const at of [createdAt, finishedAt!]) expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(MINUTE);
      }
    });
    await skewed.kill('SIGTERM');
  });

  it.each([10, -10])('FAULT B3: one that is %i minutes off starts runs at the instants it names', async (minutes) => {
    const Quick = stageOf('quick', () => 'done');
    const Timed = flowOf('timed', [Quick]);
    await withApp({ providers: [Quick, Timed] }, async (app) => {
      const workflows = app.get(WorkflowService);
      const now = Date.now();
      setHostClock(now + minutes * MINUTE);
      try {
        const start = (ms: number) => workflows.start(Timed, null, { startAt: new Date(now + ms) });
        const past = await start(-5 * MINUTE);
        const later = await start(5 * MINUTE);
        await expect(workflows.result(past.run)).resolves.toBe('done');
        await expect(workflows.get(later.run)).resolves.toMatchObject({ status: 'PENDING' });
      } finally {
        jest.useRealTimers();
      }
    });
  });
});
