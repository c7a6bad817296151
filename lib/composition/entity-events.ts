import { entityKey } from '../engine/graph/index.js';
import { WorkflowError } from '../errors/index.js';
import type { TransactionManager } from '../interfaces/index.js';
import { EntityChanges, type EntityChangeSeen } from '../persistence/subjects/entity-changes.js';
import { errorLine } from '../runtime/background/runtime-log.js';
import type { EventSender } from '../services/messages/event-sender.js';
import { findDataSource } from './find-data-source.js';
import type { RuntimeParts } from './runtime-parts.js';

export interface EntityEventsParts {
  readonly parts: Pick<RuntimeParts, 'moduleRef' | 'modules' | 'options' | 'log'>;
  readonly events: Pick<EventSender, 'emitChange'>;
  /** Of an entity that runs may be about: its type, and whose it is; undefined where what was written does not say. */
  readonly subjectOf: (
    change: EntityChangeSeen,
  ) => { readonly type: string; readonly ownerId: string | null | undefined } | undefined;
}

/**
 * Keeps changes of the host's entities as events, in the transaction that makes them, for the triggers that listen to them (TRIG-3).
 *
 * What cannot be kept as one (no owner, too large) is told in the log: it is no reason to fail the host's transaction. What the
 * database refuses is, and does.
 */
export class EntityEvents {
  #unwatch: (() => void) | undefined;

  constructor(private readonly given: EntityEventsParts) {}

  /** Once the DataSource is there. */
  watch(): void {
    const { parts } = this.given;
    const { entities } = parts.options.triggers;
    if (entities.length === 0 || this.#unwatch) return;
    this.#unwatch = new EntityChanges(entities, (change) => this.#keep(change)).watch(findDataSource(parts));
  }

  unwatch(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  async #keep(change: EntityChangeSeen): Promise<void> {
    const { entity, id, changed, before, after, manager } = change;
    const subject = this.given.subjectOf(change);
    try {
      await this.given.events.emitChange(
        {
          key: entityKey(entity, change.change),
          payload: { entity, change: change.change, id, changed, before, after },
          ...(subject && { subject: { type: subject.type, id } }),
          ...(subject && subject.ownerId !== undefined && { owner: subject.ownerId }),
          ...(manager && { manager: manager as TransactionManager }),
        },
        `A change of ${entity}`,
      );
    } catch (error) {
      if (!WorkflowError.is(error)) throw error;
      this.given.parts.log.error(
        `Triggers do not hear of ${entity} ${id}, which was changed (${change.change}): ${errorLine(error)}`,
      );
    }
  }
}
