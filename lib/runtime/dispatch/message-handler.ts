import type { JobAnswer, JobMessage, WorkflowStore } from '../../engine/ports/index.js';
import { ShuttingDownError } from '../../errors/index.js';
import type { Outages } from '../background/outages.js';
import { Pauses } from '../background/pauses.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import type { JobPump } from '../worker/job-pump.js';

export interface MessageHandlerParts {
  readonly store: Pick<WorkflowStore, 'isTransient'>;
  readonly pump: Pick<JobPump, 'handleJob'>;
  readonly outages: Outages;
  readonly log: RuntimeLog;
}

const SERVICE = 'handling job messages';

/**
 * Handles what a transport delivers to this process.
 *
 * A database that is away is waited for: refused, a whole backlog of messages would be used up in seconds. A message that was
 * faster than its job is looked at again after 1, 2, 4 … s, outside the transport, which need not know of delays (GHOST-2);
 * should the process end meanwhile, the job is sent again.
 */
export class MessageHandler {
  readonly #pauses = new Pauses();

  constructor(private readonly parts: MessageHandlerParts) {}

  /** @throws ShuttingDownError, and what the store throws at a message that can't be one */
  readonly handle = async (message: JobMessage): Promise<JobAnswer> => {
    const answer = await this.#handle(message, 1);
    const retryInMs = raceRetryMs(answer);
    if (retryInMs !== null) void this.#lookAgain(message, retryInMs);
    return answer;
  };

  /** Refuses what comes from now on, and gives up waiting. Bodies that run are the worker's to end. */
  stop(): void {
    this.#pauses.end();
  }

  async #handle(message: JobMessage, delivery: number): Promise<JobAnswer> {
    const { pump, store, outages, log } = this.parts;
    const { stageRunId, kind, attempt } = message;
    for (;;) {
      if (this.#pauses.over) throw new ShuttingDownError({ what: `Handling message ${message.id}` });
      try {
        const answer = await pump.handleJob({ stageRunId, kind, attempt, delivery });
        outages.recovered(SERVICE);
        return answer;
      } catch (error) {
        if (!store.isTransient(error)) {
          log.error(`Message ${message.id} could not be handled: ${errorLine(error)}`, errorStack(error));
          throw error;
        }
        await this.#pauses.sleep(outages.failed(SERVICE, error));
      }
    }
  }

  async #lookAgain(message: JobMessage, firstMs: number): Promise<void> {
    let waitMs: number | null = firstMs;
    try {
      for (let delivery = 2; waitMs !== null; delivery++) {
        await this.#pauses.sleep(waitMs);
        if (this.#pauses.over) return;
        const answer = await this.#handle(message, delivery);
        if (!isRace(answer)) return;
        waitMs = raceRetryMs(answer);
      }
      this.parts.log.warn(
        `Message ${message.id} names a stage run that is not there after minutes; it is dropped. Is it of another database?`,
      );
    } catch {
      // Logged where it was thrown; the job is sent again.
    }
  }
}

const isRace = (answer: JobAnswer): boolean => answer.ghost && answer.ghostReason === 'race';

function raceRetryMs(answer: JobAnswer): number | null {
  return answer.ghost && answer.ghostReason === 'race' ? answer.retryAfterMs : null;
}
