import { DataSource } from 'typeorm';
import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../../support/database.js';
import { signal, startApp } from '../app.js';
import { flowOf, stageOf } from './scenes.js';

const TIMES = 20;

/** A body that waits for its abort signal: in one app it runs, in the other it is cancelled. */
async function cancelElsewhere(worker: object, lease: object, times: number): Promise<number[]> {
  let entered = signal();
  let aborted = signal<number>();
  const Waits = stageOf('waits', (ctx) => {
    ctx.abortSignal.addEventListener('abort', () => aborted.resolve(performance.now()));
    entered.resolve();
    return aborted.promise;
  });
  const Flow = flowOf('flow', [Waits]);
  const database = await freshDatabase();
  const providers = [Waits, Flow];
  const runner = await startApp({ database, providers, workflow: { worker: { pollInterval: 50, ...worker }, lease } });
  const other = await startApp({ database, providers, workflow: { worker: false } });
  expect(other.get(DataSource)).not.toBe(runner.get(DataSource));
  const workflows = other.get(WorkflowService);
  const took: number[] = [];
  for (let time = 0; time < times; time++) {
    [entered, aborted] = [signal(), signal<number>()];
    const { run } = await workflows.start(Flow, null);
    await entered.promise;
    const at = performance.now();
    await workflows.cancel(run);
    took.push((await aborted.promise) - at);
  }
  await other.close();
  await runner.close();
  return took.sort((a, b) => a - b);
}

const shown = (took: number[]): string =>
  `p50 ${took[Math.floor(took.length / 2)]!.toFixed(1)} ms, max ${took.at(-1)!.toFixed(1)} ms, of ${took.length}`;

it('CANCEL-2: a body sees that its run was cancelled elsewhere within 100 ms', async () => {
  // The heartbeat, which would tell too, comes once a minute.
  const took = await cancelElsewhere({}, {}, TIMES);
  console.info(`from the call of cancel to the abort of the body, by NOTIFY: ${shown(took)}`);
  expect(took[TIMES / 2]).toBeLessThan(100);
});

it('CANCEL-2: without NOTIFY it sees it with its next heartbeat', async () => {
  const took = await cancelElsewhere({ notify: false }, { heartbeatInterval: '1s', staleThreshold: '1m' }, 5);
  console.info(`the same without NOTIFY, heartbeats of 1 s: ${shown(took)}`);
  // The interval, and what one statement may take on a busy machine.
  expect(took.at(-1)).toBeLessThan(1_500);
});
