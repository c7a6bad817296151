import { WorkflowService } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { freshDatabase } from '../../support/database.js';
import { signal, withApp } from '../../e2e/app.js';
import { flowOf, stageOf } from '../../e2e/faults/scenes.js';

const Waits = stageOf('waits', (ctx) => ctx.step.waitForSignal('go'));
const Quick = stageOf('quick', () => 'done');
const PROVIDERS = [Waits, Quick, flowOf('waiting', [Waits]), flowOf('quick-flow', [Quick])];

describe('a run that a host transaction holds', () => {
  it('TX-2: takes no connection of the engine with the calls that wait for it: other runs go on, and they are served in the end', async () => {
    const database = await freshDatabase();
    await withApp({ database, providers: PROVIDERS }, async (app) => {
      const workflows = app.get(WorkflowService);
      const { run } = await workflows.start('waiting', null);
      const [held, letGo] = [signal(), signal()];
      const host = app.get(DataSource).transaction('READ COMMITTED', async (manager) => {
        await workflows.signal(run, 'other', 0, { manager });
        held.resolve();
        await letGo.promise;
        // What the engine has no connection left for would wait for this very transaction.
        await workflows.cancel('018f0000-0000-7000-8000-000000000000').catch(() => undefined);
      });
      await held.promise;
      const waiting = Array.from({ length: 8 }, (_, n) => workflows.signal(run, 'note', n));
      try {
        const others = await Promise.all(
          Array.from({ length: 20 }, () => workflows.startAndWait('quick-flow', null, { timeout: '60s' })),
        );
        expect(others).toEqual(Array.from({ length: 20 }, () => 'done'));
      } finally {
        letGo.resolve();
      }
      await host;
      const verdicts = (await Promise.all(waiting)).map(({ status }) => status);
      expect(verdicts).toEqual(Array.from({ length: 8 }, () => 'stored'));
      await workflows.signal(run, 'go', 'on');
      await expect(workflows.result(run)).resolves.toBe('on');
    });
  });
});
