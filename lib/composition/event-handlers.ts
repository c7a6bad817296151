import type { DefinitionRegistry, FoundEventHandler, HandlerResolver } from '../discovery/index.js';
import type { WorkflowEvent, WorkflowEventType } from '../interfaces/index.js';
import type { EventHandler } from '../services/events/event-dispatcher.js';

type AnyEvent = WorkflowEvent<WorkflowEventType>;
type HandlerInstance = Record<string, (event: AnyEvent) => unknown>;

/** The methods that discovery found, callable; anew when a module that is loaded lazily brings more. */
export class BoundHandlers {
  #found: readonly FoundEventHandler[] = [];
  #bound: readonly EventHandler[] = [];

  constructor(
    private readonly registry: Pick<DefinitionRegistry, 'eventHandlers'>,
    private readonly resolver: Pick<HandlerResolver, 'resolve'>,
  ) {}

  list(): readonly EventHandler[] {
    const found = this.registry.eventHandlers;
    if (found !== this.#found) {
      this.#found = found;
      this.#bound = found.map((handler, at) => this.#bind(handler, at));
    }
    return this.#bound;
  }

  /** Request-scoped classes are made anew for each event; what injects REQUEST there is given the event. */
  #bind(handler: FoundEventHandler, at: number): EventHandler {
    const { place, method, types } = handler;
    return {
      // Not the names alone: classes share them, and in minified code most do. New handlers come behind known ones.
      name: `${place}.${method} #${at}`,
      types: new Set(types),
      handle: async (event: AnyEvent) => {
        const request = () => ({ event, runId: event.run?.id ?? null });
        const instance = await this.resolver.resolve<HandlerInstance>(handler, request);
        return instance[method]!(event);
      },
    };
  }
}
