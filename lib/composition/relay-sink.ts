import type { DefinitionRegistry } from '../discovery/index.js';
import { decodeJson } from '../engine/codec/json.js';
import type { WorkflowEvent, WorkflowEventType } from '../interfaces/index.js';
import type { EventSink, RelayedEvent } from '../runtime/outbox/relayed-event.js';
import type { PublishedGraphs } from './published-graphs.js';
import type { EventDispatcher } from '../services/events/event-dispatcher.js';

export interface RelaySinkParts {
  readonly dispatcher: EventDispatcher;
  readonly registry: DefinitionRegistry;
  readonly graphs: Pick<PublishedGraphs, 'load'>;
  readonly systemActor: () => unknown;
}

/** Where the outbox relay hands events over: makes of a stored event what handlers are given, and its run's context. */
export class RelaySink implements EventSink {
  constructor(private readonly parts: RelaySinkParts) {}

  hasListeners(): boolean {
    return this.parts.dispatcher.hasListeners;
  }

  async deliver(relayed: RelayedEvent): Promise<void> {
    const { id, type, run, stage, ownerId, subject, trace, at, data } = relayed;
    const startedBy = relayed.actor === null ? null : decodeJson(relayed.actor, `The actor of event ${id}`);
    // Who published a definition stands for himself.
    const runAs = run === null ? startedBy : await this.#runAs(run, relayed, startedBy);
    const event = {
      id,
      type,
      run,
      stage,
      owner: ownerId,
      subject,
      actor: startedBy,
      runAs,
      at: new Date(at),
      data,
    } as WorkflowEvent<WorkflowEventType>;
    await this.parts.dispatcher.deliver({ event, context: { ownerId, actor: runAs, startedBy, run, trace } });
  }

  /** Null where this build does not know the definition: a handler must not act as somebody that was guessed. */
  async #runAs(
    run: NonNullable<RelayedEvent['run']>,
    { definitionKey, ownerId }: RelayedEvent,
    startedBy: unknown,
  ): Promise<unknown> {
    const { registry, graphs } = this.parts;
    const code = registry.definitions.get(run.definition)?.get(run.version);
    const definition = code ?? (definitionKey === null ? undefined : await graphs.load(definitionKey, ownerId));
    if (!definition) return null;
    if (definition.compiled.settings.actor === 'on_behalf_of') return startedBy;
    return (await this.parts.systemActor()) ?? null;
  }
}
