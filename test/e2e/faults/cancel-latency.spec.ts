import { DataSource } from 'typeorm';
import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../../support/database.js';
import { signal, startApp } from '../app.js';
import { flowOf, stageOf } from './scenes.js';

const TIMES = 20;

interface Took {
  /** From each cancel to its abort, the fastest first. */
  readonly aborts: readonly number[];
  /** What one statement takes on this machine meanwhile, in the median. */
  readonly statement: number;
}

const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

/** A body that waits for its abort signal: in one app it runs, in the other it is cancelled. */
async function cancelElsewhere(worker: object, lease: object, times: number): Promise<Took> {
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
  const [took, statements]: [number[], number[]] = [[], []];
  for (let time = 0; time < times; time++) {
    [entered, aborted] = [signal(), signal<number>()];
    const { run } = await workflows.start(Flow, null);
    await entered.promise;
    const before = performance.now();
    await other.get(DataSource).query('SELECT 1');
    const at = performance.now();
    await workflows.cancel(run);
    took.push((await aborted.promise) - at);
    statements.push(at - before);
  }
  await other.close();
  await runner.close();
  return { aborts: ascending(took), statement: ascending(statements)[times >> 1]! };
}

const shown = ({ aborts, statement }: Took): string =>
  `p50 ${aborts[aborts.length >> 1]!.toFixed(1)} ms, max ${aborts.at(-1)!.toFixed(1)} ms, of ${aborts.length}, ` +
  `with ${statement.toFixed(1)} ms a statement`;

it('CANCEL-2: a body sees that its run was cancelled elsewhere within 100 ms', async () => {
  // The heartbeat, which would tell too, comes once a minute.
  const took = await cancelElsewhere({}, {}, TIMES);
  console.info(`from the call of cancel to the abort of the body, by NOTIFY: ${shown(took)}`);
  // Some statements and a NOTIFY: on a machine on which a statement takes long, so does this.
  expect(took.aborts[TIMES / 4]).toBeLessThan(Math.max(100, 50 * took.statement));
});

it('CANCEL-2: without NOTIFY it sees it with its next heartbeat', async () => {
  const took = await cancelElsewhere({ notify: false }, { heartbeatInterval: '1s', staleThreshold: '1m' }, 5);
  console.info(`the same without NOTIFY, heartbeats of 1 s: ${shown(took)}`);
  // The one after it would come at 2 s. A machine that stands still at a wrong moment makes some of them late.
  expect(took.aborts[2]).toBeLessThan(2_000);
});
