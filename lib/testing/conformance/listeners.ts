import type { ClaimedJob, EventMatch, EventWait, NewEvent, OpenWait } from '../../engine/ports/index.js';
import { eventWait, newEvent, suspending } from './step-builders.js';
import type { StoreUnderTest } from './store-under-test.js';

/** Suspends a new run until an event comes. */
export async function listening(
  on: StoreUnderTest,
  given: Partial<OpenWait> = {},
  ownerId: string | null = null,
): Promise<ClaimedJob> {
  const job = await on.startAndClaim({ ownerId });
  await on.suspend(suspending(job, [eventWait('event', given)]));
  return job;
}

/** Stores an event. */
export async function storeOne(on: StoreUnderTest, given: Partial<NewEvent> = {}): Promise<NewEvent> {
  const event = newEvent(given);
  await on.store.storeEvent(event);
  return event;
}

export const matchOf = (job: ClaimedJob, { id }: NewEvent, key = 'event'): EventMatch => ({
  runId: job.run.id,
  stageRunId: job.stageRun.id,
  key,
  eventId: id,
});

/** Run ids of the waits that could take an event. */
export const listeners = async (on: StoreUnderTest, event: NewEvent): Promise<string[]> =>
  (await on.store.findWaits(event, null, 100)).waits.map(({ runId }) => runId).sort();

/** Events that could end the only unchecked wait of a stage run. */
export async function lyingThere(on: StoreUnderTest, job: ClaimedJob): Promise<string[]> {
  const { events } = await on.store.findEvents(await onlyWait(on, job), null, 100);
  return events.map(({ id }) => id);
}

export async function onlyWait(on: StoreUnderTest, job: ClaimedJob): Promise<EventWait> {
  const [wait] = await on.store.uncheckedWaits([job.stageRun.id], 10);
  if (wait === undefined) throw new Error('It waits for no event, or was looked up already.');
  return wait;
}
