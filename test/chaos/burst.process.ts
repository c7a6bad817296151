import 'reflect-metadata';
import { WorkflowService, type EmitEvent } from 'nestjs-workflow-engine';
import { announce, onMessage } from '../support/process-side.js';
import { burstModule, MOMENTS } from './burst-flow.js';
import { compileOn, watchSuspensions, type SuspensionWatch } from './store-calls.js';

/** Runs whose sleep is written when the test says so. */
const held = new Map<string, () => void>();
onMessage<{ runId: string }>('go on', ({ runId }) => held.get(runId)?.());

const waitsFor = (n: number, { keep }: { readonly keep: readonly string[] }): boolean => keep.includes(`next#${n}`);

/** Tells of the moments of signals that no body sees, and of stages that sleep until an event comes. */
const watch: SuspensionWatch = {
  before: async (record) => {
    const { runId } = record.lease;
    if (!waitsFor(MOMENTS.beforeSleep, record)) return;
    const goesOn = new Promise<void>((resolve) => held.set(runId, resolve));
    await announce('moment', { runId, n: MOMENTS.beforeSleep });
    await goesOn;
    held.delete(runId);
  },
  asleep: (record) => {
    const { runId } = record.lease;
    if (waitsFor(MOMENTS.asleep, record)) void announce('moment', { runId, n: MOMENTS.asleep });
    if (record.keep.includes('event#1')) void announce('asleep');
  },
};

/** A process that works and sends messages: all it is given at once. */
async function boot(): Promise<void> {
  const module = burstModule(process.env.DATABASE_URL!, { worker: { concurrency: 60 }, wake: { every: 1_000 } });
  const app = await compileOn(module, (store) => watchSuspensions(store, watch));
  app.useLogger(['error', 'warn']);
  await app.init();
  const workflows = app.get(WorkflowService);
  onMessage<{ events: EmitEvent[] }>('emit', async ({ events }) => {
    const answers = await Promise.all(events.map((event) => workflows.emit(event)));
    await announce('emitted', { duplicates: answers.filter(({ duplicate }) => duplicate).length });
  });
  onMessage<{ runId: string; n: number }>('signal', async ({ runId, n }) => {
    await announce('signalled', { runId, n, ...(await workflows.signal(runId, 'next', n)) });
  });
  await announce('ready');
}

void boot();
