import type { ContextCapture, OwnerBoundary } from '../../context/index.js';
import { digest } from '../../engine/codec/digest.js';
import type { StoredEvent } from '../../engine/ports/index.js';
import { UndefinedIdError } from '../../errors/index.js';
import type { EmitEvent, EmitResult } from '../../interfaces/index.js';
import type { EnginePort, EngineReady } from '../engine-port.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';
import { sourceOf } from './event-source.js';
import { MessageChecks } from './message-checks.js';

const KNOWN = ['key', 'payload', 'subject', 'messageId', 'owner', 'manager'];

export interface MessageLimits {
  readonly maxPayloadBytes: number;
}

/**
 * Stores events. Waits hear of them in a transaction of its own after the commit: matched in the one that stores it, an
 * event and a wait that are written at the same time would miss each other.
 */
export class EventSender {
  readonly #ready: EngineReady;
  readonly #capture: ContextCapture;
  readonly #joiner: TransactionJoiner;
  readonly #boundary: OwnerBoundary;
  readonly #limits: MessageLimits;

  constructor(
    ready: EngineReady,
    capture: ContextCapture,
    joiner: TransactionJoiner,
    boundary: OwnerBoundary,
    limits: MessageLimits,
  ) {
    this.#ready = ready;
    this.#capture = capture;
    this.#joiner = joiner;
    this.#boundary = boundary;
    this.#limits = limits;
  }

  /** @throws InvalidEventError, UndefinedIdError, TransactionRequiredError */
  async emit(event: EmitEvent, where: string): Promise<EmitResult> {
    return this.#emit(event, where, true);
  }

  /** The same for what the engine itself tells of. */
  async emitChange(event: EmitEvent, where: string): Promise<EmitResult> {
    return this.#emit(event, where, false);
  }

  async #emit(event: EmitEvent, where: string, byApp: boolean): Promise<EmitResult> {
    if (typeof event !== 'object' || event === null)
      throw new UndefinedIdError({ what: 'The event', where, hint: `{ key: 'payment.received' }` });
    const { key, messageId } = event;
    const checks = new MessageChecks(`Event ${JSON.stringify(key) ?? 'without a key'}`);
    checks.known(event, KNOWN);
    checks.text('key', key);
    if (byApp) checks.appKey('key', key);
    checks.messageId(messageId);
    const subject = checks.subject(event);
    const payload = checks.payload(event.payload, this.#limits.maxPayloadBytes);
    checks.end();

    const engine = await this.#ready();
    const ownerId = await this.#capture.owner(event, where);
    return this.#boundary.run(ownerId, () => this.#store(engine, { ownerId, key, subject, payload }, event, where));
  }

  async #store(
    engine: EnginePort,
    event: Omit<StoredEvent, 'id'>,
    { messageId, manager }: EmitEvent,
    where: string,
  ): Promise<EmitResult> {
    // Whether a message came before is decided by what others committed.
    const needsReadCommitted = messageId !== undefined;
    const transaction = await this.#joiner.join({ method: where, manager, needsReadCommitted });
    const source = sourceOf(this.#capture);
    const stored: StoredEvent = { id: engine.nextId(), ...event, source };
    const messageDigest = messageId === undefined ? null : digest(['event', event.ownerId, messageId]);
    if (!(await engine.store.storeEvent({ ...stored, messageDigest }, transaction))) {
      return { eventId: null, duplicate: true };
    }
    if (transaction) await engine.announceWithin(transaction, { events: true });
    else engine.eventEmitted(stored);
    return { eventId: stored.id, duplicate: false };
  }
}
