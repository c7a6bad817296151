import { decodeJson } from '../../engine/codec/json.js';
import type { AuditEntry, ReplayedLetter } from '../../engine/ports/index.js';
import type { EngineEvent } from '../../engine/state/rows.js';
import { InvalidOptionsError, UndefinedIdError } from '../../errors/index.js';
import type { EngineReady } from '../engine-port.js';
import type { Operations } from '../operations/operations.js';

/** A row of the outbox whose handlers failed at every try. Later events of the same run were delivered meanwhile. */
export interface DeadLetter {
  readonly id: string;
  /** Null: it is about a definition. */
  readonly runId: string | null;
  readonly definition: string;
  readonly version: number;
  readonly owner: string | null;
  /** The events that were not delivered. */
  readonly events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
  readonly attempts: number;
  /** What the last try failed with. */
  readonly error: string | null;
  readonly createdAt: Date;
}

const MOST = 1_000;

/** Reads and replays what the outbox gave up on. Over all owners: only an operator reaches it. */
export class DeadLetters {
  readonly #ready: EngineReady;
  readonly #operations: Operations;

  constructor(ready: EngineReady, operations: Operations) {
    this.#ready = ready;
    this.#operations = operations;
  }

  /** @throws InvalidOptionsError */
  async list(limit: number): Promise<DeadLetter[]> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
      throw new InvalidOptionsError({
        where: 'deadLetters',
        problems: [{ path: 'limit', message: `must be an integer from 1 to ${MOST}` }],
      });
    }
    const { store } = await this.#ready();
    const rows = await store.listDeadLetters(limit);
    return rows.map((row) => ({
      id: row.id,
      runId: row.runId,
      definition: row.definitionId,
      version: row.definitionVersion,
      owner: row.ownerId,
      events: readEvents(row.events, row.id)
        .slice(row.delivered)
        .map(({ type, data }) => ({ type, data: data ?? {} })),
      attempts: row.attempts,
      error: row.error,
      createdAt: new Date(row.createdAt),
    }));
  }

  /** @throws UndefinedIdError, InvalidOptionsError */
  async replay(ids: readonly string[]): Promise<number> {
    if (!Array.isArray(ids))
      throw new UndefinedIdError({ what: 'ids', where: 'replayDeadLetters', hint: 'a list of ids' });
    // Outbox ids are bigints: anything else would fail the statement, or select what was not meant.
    const odd = ids.find((id) => typeof id !== 'string' || !/^[0-9]{1,18}$/.test(id));
    if (odd !== undefined || ids.includes(undefined as never)) {
      throw new InvalidOptionsError({
        where: 'replayDeadLetters',
        problems: [{ path: 'ids', message: 'must be ids that deadLetters() returned' }],
      });
    }
    if (ids.length === 0) return 0;
    const engine = await this.#ready();
    const audit = ({ id }: ReplayedLetter): AuditEntry =>
      this.#operations.entry('replayDeadLetter', { all: true }, engine.nextId(), { letter: id });
    const replayed = await engine.store.replayDeadLetters(ids, audit);
    if (replayed > 0) engine.announce({ work: true });
    return replayed;
  }
}

function readEvents(text: string, id: string): EngineEvent[] {
  return decodeJson(text, `Outbox row ${id}`) as EngineEvent[];
}
