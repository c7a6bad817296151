import 'reflect-metadata';
import { announce, onMessage } from '../support/process-side.js';
import { approvalModule } from './approval-flow.js';
import { compileOn, watchSuspensions, wrapStore, type CallAround } from './store-calls.js';

interface Work {
  readonly url: string;
  /** The run at which this process stands still once its round is opened: nothing that comes after is written. */
  readonly stopAt?: string;
}

/** Works at whatever there is, and tells which runs it puts to sleep. */
onMessage<Work>('work', async ({ url, stopAt }) => {
  const opening: CallAround = async ([{ runId }]: [{ runId: string }], proceed) => {
    const round: unknown = await proceed();
    if (runId !== stopAt) return round;
    await announce('opened');
    return new Promise(() => undefined);
  };
  const app = await compileOn(approvalModule(url), (store) =>
    watchSuspensions(
      wrapStore(store, (name) => (name === 'openRound' ? opening : undefined)),
      { asleep: ({ lease }) => void announce(`asleep ${lease.runId}`) },
    ),
  );
  app.useLogger(false);
  await app.init();
});

void announce('ready');
