import { decodeJson } from '../../engine/codec/index.js';
import { ExpressionValues } from '../../engine/expression/index.js';
import { type CompiledTrigger, receivedStart, triggerNote, type TriggerSpecs } from '../../engine/graph/index.js';
import type { Cursor, FoundTrigger, StoredEvent, TriggerNote, WorkflowStore } from '../../engine/ports/index.js';
import { isShuttingDown, WorkflowError } from '../../errors/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { chainOf, type EventChain, NO_CHAIN } from './event-chain.js';
import type { StartTriggered } from './triggered-start.js';

export interface EventTriggersParts {
  readonly store: Pick<WorkflowStore, 'findEventTriggers' | 'noteTrigger' | 'readAncestry' | 'now' | 'isTransient'>;
  readonly specs: TriggerSpecs;
  readonly start: StartTriggered;
  readonly log: RuntimeLog;
  readonly batch: number;
  readonly guard: ChainGuard;
}

/** What keeps triggers from starting each other for ever. */
export interface ChainGuard {
  /** How many triggers may lead to a run, one after the other. */
  readonly maxDepth: number;
  /** Whether a definition may be started by what a run of its own led to. */
  readonly allowCycles: boolean;
}

/** How long an event is kept for processes that know a definition which this one does not. */
const GIVE_UP_AFTER_MS = 600_000;

/** What an event says of where it comes from. */
interface EventSource {
  readonly run?: string;
  readonly actor?: unknown;
}

/**
 * Starts the runs of triggers that an event is for (TRIG-3), after its commit: for each trigger one, whoever matches it and however
 * often, since the start key is made of both. A trigger that a run of its own definition led to starts nothing, nor one at the
 * end of too long a chain (fault E14): that is told, and noted down.
 */
export class EventTriggers {
  constructor(private readonly parts: EventTriggersParts) {}

  /** Rejects with what the store throws. False: some have to be tried again, here or elsewhere. */
  async matchEvent(event: StoredEvent): Promise<boolean> {
    const { store, batch } = this.parts;
    let chain: EventChain | undefined;
    let complete = true;
    let after: Cursor = null;
    do {
      const page: Awaited<ReturnType<WorkflowStore['findEventTriggers']>> = await store.findEventTriggers(
        event,
        after,
        batch,
      );
      if (page.triggers.length > 0) chain ??= await this.#chainOf(event);
      for (const trigger of page.triggers) complete = (await this.#alone(trigger, event, chain!)) && complete;
      after = page.next;
    } while (after !== null);
    return complete;
  }

  /** What one trigger throws keeps none of the others from the event. Rejects where the database is away for all. */
  async #alone(found: FoundTrigger, event: StoredEvent, chain: EventChain): Promise<boolean> {
    const { store, log } = this.parts;
    try {
      return await this.#match(found, event, chain);
    } catch (error) {
      const line = `${nameOf(found)} could not be asked of event ${event.id}, and is tried again: ${errorLine(error)}`;
      if (!store.isTransient(error)) log.error(line, errorStack(error));
      else {
        // An answer says that it is this one's trouble alone: a lock, a timeout of a statement.
        await store.now();
        log.warn(line);
      }
      return false;
    }
  }

  async #chainOf(event: StoredEvent): Promise<EventChain> {
    const { run } = sourceOf(event);
    return run === undefined ? NO_CHAIN : chainOf(await this.parts.store.readAncestry(run, event.ownerId));
  }

  async #match(found: FoundTrigger, event: StoredEvent, chain: EventChain): Promise<boolean> {
    const { log, specs } = this.parts;
    let compiled: CompiledTrigger;
    try {
      compiled = specs.of(found.spec);
    } catch (error) {
      log.error(`${nameOf(found)} cannot be read by this version: ${errorLine(error)}`);
      return this.#isOver(event);
    }
    const payload = decodeJson(event.payload, `The payload of event ${event.id}`);
    const now = new Date(instantOfId(event.id));
    const values = new ExpressionValues({ event: payload, owner: event.ownerId, now });
    if (compiled.where !== null) {
      const holds = compiled.where.evaluate(values);
      if (!holds.ok)
        log.debug(`The where of ${nameOf(found)} could not be asked of event ${event.id}: ${holds.problem}`);
      if (!holds.ok || holds.value !== true) return true;
    }
    const why = this.#refusal(found, chain);
    if (why !== null) {
      log.warn(`${nameOf(found)} starts no run for event ${event.id}: ${why}.`);
      await this.#note(found, { outcome: 'chain', error: why, passedOver: 1 });
      return true;
    }
    return this.#start(found, compiled, event, payload, values, chain);
  }

  #refusal({ definitionId }: FoundTrigger, { definitions, depth }: EventChain): string | null {
    const { maxDepth, allowCycles } = this.parts.guard;
    const way = definitions.join(' → ');
    if (!allowCycles && definitions.includes(definitionId))
      return `a run of ${definitionId} led to it (${way}), and it would start itself again`;
    return depth >= maxDepth ? `${depth} triggers led to it (${way}), and there may be ${maxDepth}` : null;
  }

  async #start(
    found: FoundTrigger,
    compiled: CompiledTrigger,
    event: StoredEvent,
    payload: unknown,
    values: ExpressionValues,
    chain: EventChain,
  ): Promise<boolean> {
    const { store, start, log } = this.parts;
    const made = receivedStart(compiled, values, payload, event.subject);
    const failed = async (why: string): Promise<boolean> => {
      log.error(`${nameOf(found)} started no run for event ${event.id}: ${why}`);
      await this.#note(found, { outcome: 'failed', error: why, passedOver: 1 });
      return true;
    };
    if (!made.ok) return failed(made.problem);
    try {
      const { runId, created, refused } = await start({
        trigger: found,
        cause: { event: event.id },
        ownerId: event.ownerId,
        actor: sourceOf(event).actor ?? null,
        ...made.start,
        startAt: null,
        chain: chain.definitions,
        depth: chain.depth + 1,
      });
      // What was there already was noted by whoever started it, unless that died: a count too few.
      if (!created) return true;
      await this.#note(
        found,
        refused ? { runId, outcome: 'refused', passedOver: 1 } : { runId, outcome: 'started', started: 1 },
      );
      return true;
    } catch (error) {
      if (store.isTransient(error)) throw error;
      // Another process does, whenever that comes.
      if (isShuttingDown(error)) return false;
      const line = errorLine(error);
      if (WorkflowError.is(error) && error.code !== 'UNKNOWN_WORKFLOW') return failed(error.message);
      if (await this.#isOver(event)) return failed(line);
      log.error(`${nameOf(found)} started no run for event ${event.id} here, and is tried again: ${line}`);
      return false;
    }
  }

  /** Nobody came who could: it would be in the way of all others. */
  async #isOver({ id }: StoredEvent): Promise<boolean> {
    return Date.parse(await this.parts.store.now()) - instantOfId(id) > GIVE_UP_AFTER_MS;
  }

  #note({ id }: FoundTrigger, note: Partial<TriggerNote>): Promise<void> {
    return this.parts.store.noteTrigger(id, triggerNote(note));
  }
}

const nameOf = ({ definitionId, triggerId }: FoundTrigger): string => `Trigger ${triggerId} of ${definitionId}`;

function sourceOf({ source }: StoredEvent): EventSource {
  return source === null || source === undefined ? {} : (decodeJson(source, 'The source of an event') as EventSource);
}

/** A UUIDv7 begins with its instant: what an event was made at, the same for whoever looks. */
const instantOfId = (id: string): number => parseInt(id.replaceAll('-', '').slice(0, 12), 16);
