import { freshDatabase } from '../../support/database.js';
import { forkProcess } from '../../support/processes.js';

it('memory: a process that ran 10,000 runs holds no more memory than after the first 1,000', async () => {
  const { url } = await freshDatabase();
  const worker = forkProcess('test/e2e/faults/fault.process.ts', {
    env: { DATABASE_URL: url, WORKFLOW: JSON.stringify({ worker: { concurrency: 100 } }) },
  });
  await worker.waitFor('ready');
  worker.send('run', { runs: 1_000, group: 500 });
  const { rss: first } = await worker.waitFor<{ rss: number }>('ran');
  worker.send('run', { runs: 9_000, group: 500 });
  const { rss: last } = await worker.waitFor<{ rss: number }>('ran');
  console.info(
    `resident after 1,000 runs ${mb(first)} MB, after 10,000 ${mb(last)} MB: ${(last / first).toFixed(2)} times`,
  );
  expect(last / first).toBeLessThanOrEqual(1.3);
  await worker.kill('SIGTERM');
}, 180_000);

const mb = (bytes: number): number => Math.round(bytes / 2 ** 20);
