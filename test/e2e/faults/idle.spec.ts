import { Client } from 'pg';
import { WorkflowService } from 'nestjs-workflow-engine';
import { withApp } from '../app.js';
import { Greeting } from '../greeting.js';

const SECONDS = 10;

it('JOB-4: an idle worker costs at most two statements a second', async () => {
  await withApp({}, async (app) => {
    await app.get(WorkflowService).startAndWait(Greeting, { name: 'Ada' });
    const send = jest.spyOn(Client.prototype, 'query');
    // The statement rate is what is measured, so this waits for time.
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
    const texts = send.mock.calls.map(([query]) => (query as { name?: string; text?: string }).name ?? String(query));
    send.mockRestore();
    const counts: Record<string, number> = {};
    for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
    console.info(`idle for ${SECONDS} s: ${texts.length} statements: ${JSON.stringify(counts)}`);
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.length).toBeLessThanOrEqual(2 * SECONDS);
  });
});
