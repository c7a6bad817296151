import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { announce, onMessage } from '../../support/process-side.js';

/**
 * An app in a process of its own, told what to do by messages.
 *
 * Environment: DATABASE_URL, WORKFLOW (module options as JSON), CLOCK_SKEW_MS (how far this host's clock is ahead),
 * HELD (1: the body of `step` ends when the test says `end`), ASKS_DATABASE (1: it then asks the host's database).
 */
const skewMs = Number(process.env.CLOCK_SKEW_MS ?? 0);
if (skewMs !== 0) skewClock(skewMs);

for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error: unknown) => void announce('escaped', { event, error: String(error) }));
}

void import('./fault-app.js').then(async ({ createFaultApp }) => {
  const app = await createFaultApp();
  onMessage<{ runs: number }>('start', async ({ runs }) => announce('started', { ids: await app.start(runs) }));
  onMessage<{ runs: number; group: number }>('run', async ({ runs, group }) => {
    for (let done = 0; done < runs; done += group) await app.runToTheEnd(group);
    await announce('ran', { rss: settledRss() });
  });
  onMessage<{ times: number }>('wake', async ({ times }) => announce('woken', { reports: await app.wake(times) }));
  onMessage<{ run: string }>('result', async ({ run }) => announce('ended', { output: await app.ended(run) }));
  onMessage('end', () => app.endBodies());
  onMessage('wait', () => {
    const waiting = app.startAndWait().catch((error: { code?: string }) => announce('rejected', { code: error.code }));
    void waiting;
  });
  await announce('ready', { now: Date.now() });
});

/** Memory that the process holds when all that can go is gone. */
function settledRss(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().rss;
}

/** A host whose clock is wrong: everything that asks it, libraries too, gets this answer. */
function skewClock(ms: number): void {
  const RealDate = Date;
  const now = (): number => RealDate.now() + ms;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self) as Date,
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
}
