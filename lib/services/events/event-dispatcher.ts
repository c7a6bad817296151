import type { ContextRunner, ExecutionContext } from '../../context/index.js';
import type { RunEventType, WorkflowEvent, WorkflowEventType } from '../../interfaces/index.js';
import type { EmitterBridge } from './emitter-bridge.js';
import type { EventStream } from './event-stream.js';

/** A method marked `@OnWorkflowEvent`, found by discovery. */
export interface EventHandler {
  /** Class and method, for logs. */
  readonly name: string;
  readonly types: ReadonlySet<WorkflowEventType>;
  handle(event: WorkflowEvent<WorkflowEventType>): unknown;
}

export interface DispatchedEvent {
  readonly event: WorkflowEvent<WorkflowEventType>;
  readonly context: ExecutionContext;
}

/** How many half-delivered events are remembered; more would be a handler that has failed for hours. */
const REMEMBERED = 1_000;

/**
 * Hands an event to every handler of this process, each inside the context of the event's run, so that a handler can
 * write for the right owner.
 *
 * Rejects with the first failure after all have been called; the relay then delivers the event again. Handlers that had it
 * already are spared that, as long as this process lives: after a crash they hear it twice (at least once, EVT-1).
 */
export class EventDispatcher {
  readonly #contexts: ContextRunner;
  readonly #stream: EventStream;
  readonly #emitter: EmitterBridge;
  readonly #handlers: () => readonly EventHandler[];
  readonly #delivered = new Map<string, Set<string>>();

  constructor(
    contexts: ContextRunner,
    handlers: () => readonly EventHandler[],
    stream: EventStream,
    emitter: EmitterBridge,
  ) {
    this.#handlers = handlers;
    this.#contexts = contexts;
    this.#stream = stream;
    this.#emitter = emitter;
  }

  /** Whether anybody here wants events at all; nobody = the relay leaves them to other processes. */
  get hasListeners(): boolean {
    return this.#handlers().length > 0 || this.#stream.observed || this.#emitter.hasListeners;
  }

  async deliver({ event, context }: DispatchedEvent): Promise<void> {
    const had = this.#had(event.id);
    const failures: unknown[] = [];
    const once = async (name: string, call: () => unknown): Promise<void> => {
      if (had.has(name)) return;
      try {
        await call();
        had.add(name);
      } catch (error) {
        failures.push(error);
      }
    };
    // One after the other: a handler may rely on what an earlier one of its class wrote, and order costs nothing here.
    for (const handler of this.#handlers()) {
      if (handler.types.has(event.type))
        await once(handler.name, () => this.#contexts.run(context, () => handler.handle(event)));
    }
    // No owner is entered for nobody.
    if (this.#emitter.hasListeners)
      await once('emitter', () => this.#contexts.run(context, () => this.#emitter.emit(event)));
    // Last: who watches the stream for an event finds what the handlers made of it.
    if (isOfRun(event)) await once('stream', () => this.#stream.next(event));
    if (failures.length > 0) throw failures[0];
    this.#delivered.delete(event.id);
  }

  /** Handlers that had the event, from the first try on: one that hangs must not make the others hear it again. */
  #had(eventId: string): Set<string> {
    const known = this.#delivered.get(eventId);
    if (known) return known;
    const had = new Set<string>();
    this.#delivered.set(eventId, had);
    const [oldest] = this.#delivered.keys();
    if (this.#delivered.size > REMEMBERED && oldest !== undefined) this.#delivered.delete(oldest);
    return had;
  }
}

/** The stream is of runs: whoever reads it may rely on one. */
function isOfRun(event: WorkflowEvent<WorkflowEventType>): event is WorkflowEvent<RunEventType> {
  return event.run !== null;
}
