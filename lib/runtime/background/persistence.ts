import type { WorkflowStore } from '../../engine/ports/index.js';
import type { Outages } from './outages.js';
import type { Pauses } from './pauses.js';

/** Thrown to whoever waits for a write when the service gave up before the database came back. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/**
 * Calls the store until it answers: what fails for now is tried again, unchanged, for as long as the service lives.
 *
 * @throws GivenUp when the service is over; whatever else the store throws that trying again can't help
 */
export async function persist<T>(
  service: string,
  call: () => Promise<T>,
  { store, outages, pauses }: { store: Pick<WorkflowStore, 'isTransient'>; outages: Outages; pauses: Pauses },
): Promise<T> {
  for (;;) {
    try {
      const answer = await call();
      outages.recovered(service);
      return answer;
    } catch (error) {
      if (!store.isTransient(error)) throw error;
      await pauses.sleep(outages.failed(service, error));
      if (pauses.over) throw new GivenUp(`${service} gave up: the database did not answer`, { cause: error });
    }
  }
}
