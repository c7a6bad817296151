import type { OutboxRow, WorkflowStore } from '../../engine/ports/index.js';
import { computeBackoffDelayMs, type CompiledRetryPolicy } from '../../engine/retry/index.js';
import { detached } from '../background/detached.js';
import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import { within } from '../background/within.js';
import { eventsOf, type EventSink } from './relayed-event.js';

export interface RunDeliveryParts {
  readonly store: Pick<WorkflowStore, 'failOutbox'>;
  readonly sink: EventSink;
  readonly log: RuntimeLog;
  /** `maxAttempts` tries with its backoff between them, then dead letter. */
  readonly policy: CompiledRetryPolicy;
  /** How long the handlers of one event may take; past it the event counts as failed. */
  readonly handlerTimeoutMs: number;
  readonly random: () => number;
}

/** What became of one run's rows in a page. */
export interface DeliveredRows {
  /** Ids of rows that every handler has had. */
  readonly done: string[];
  /** Milliseconds until a failed row is tried again, if one is. */
  readonly retryInMs: number | null;
}

/**
 * Delivers rows of one run in order. One that fails holds back those after it until it is through or a dead letter; other
 * runs don't notice (EVT-1, fault J6). Rejects only with what the store throws.
 */
export async function deliverRun(rows: readonly OutboxRow[], parts: RunDeliveryParts): Promise<DeliveredRows> {
  const done: string[] = [];
  for (const row of rows) {
    const failed = await deliverRow(row, parts);
    if (!failed) {
      done.push(row.id);
      continue;
    }
    const retryInMs = await keep(row, failed, parts);
    if (retryInMs !== null) return { done, retryInMs };
  }
  return { done, retryInMs: null };
}

interface Failed {
  readonly delivered: number;
  readonly message: string;
}

async function deliverRow(row: OutboxRow, { sink, handlerTimeoutMs }: RunDeliveryParts): Promise<Failed | undefined> {
  let delivered = row.delivered;
  try {
    const events = eventsOf(row);
    for (; delivered < events.length; delivered++) {
      const event = events[delivered]!;
      const delivery = detached(() => sink.deliver(event));
      if (!(await within(handlerTimeoutMs, delivery)))
        throw new Error(`its handlers took longer than ${handlerTimeoutMs} ms`);
      await delivery;
    }
    return undefined;
  } catch (error) {
    return { delivered, message: errorLine(error) };
  }
}

async function keep(row: OutboxRow, { delivered, message }: Failed, parts: RunDeliveryParts): Promise<number | null> {
  const { store, log, policy, random } = parts;
  const tries = row.attempts + 1;
  const retryInMs = tries >= policy.maxAttempts ? null : computeBackoffDelayMs(policy, tries, random);
  const what = `Event ${row.id}.${delivered} of ${row.runId === null ? `workflow ${row.definitionId}` : `run ${row.runId}`} failed (try ${tries} of ${policy.maxAttempts}): ${message}`;
  if (retryInMs === null) log.error(`${what}. It is a dead letter now.`);
  else log.warn(what);
  await store.failOutbox(row.id, delivered, message, retryInMs);
  return retryInMs;
}
