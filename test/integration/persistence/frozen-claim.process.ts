import { DataSource } from 'typeorm';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { announce, onMessage } from '../../support/process-side.js';

/** A worker's store in a process of its own. Environment: DATABASE_URL, SILENCE_MS. */
const host = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL! });
const options = { silenceMs: Number(process.env.SILENCE_MS), warn: () => undefined };

void createPostgresStore(host, {}, options).then(async (store) => {
  onMessage<{ limit: number }>('claim', async ({ limit }) => {
    const request = { workerId: 'frozen', limit, queues: null, unserved: [] };
    const answer = await store.claim(request).then(
      ({ claimed }) => ({ claimed: claimed.length }),
      (error: unknown) => ({ refused: String(error), transient: store.isTransient(error) }),
    );
    await announce('claimed', answer);
  });
  onMessage('close', async () => {
    await store.close();
    process.disconnect();
  });
  await announce('ready');
});
