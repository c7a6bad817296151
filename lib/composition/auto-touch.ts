import type { SubjectName } from '../engine/ports/index.js';
import type { ChangedSubject } from '../persistence/subjects/subject-subscriber.js';
import { errorLine, type RuntimeLog } from '../runtime/background/runtime-log.js';

export interface AutoTouchParts {
  /** Touches a subject of an owner. */
  readonly touch: (subject: SubjectName, ownerId: string | null) => Promise<unknown>;
  /** Whose a subject is, where what was written did not say; undefined of one that is gone. */
  readonly ownerOf: (subject: SubjectName) => Promise<string | null | undefined>;
  readonly log: Pick<RuntimeLog, 'debug' | 'warn'>;
}

/**
 * Touches what was written, one after the other, so that it never holds more than one of the engine's connections, whatever the
 * host writes and whoever holds a run. A subject that waits for its turn already is not queued twice. One that can't be touched
 * is told of and left: its polls look at their next time.
 */
export class AutoTouch {
  readonly #queue = new Map<string, ChangedSubject>();
  #working: Promise<void> | undefined;
  #stopped = false;

  constructor(private readonly parts: AutoTouchParts) {}

  readonly changed = (subjects: readonly ChangedSubject[]): void => {
    if (this.#stopped) return;
    for (const subject of subjects) this.#queue.set(JSON.stringify(subject), subject);
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
  };

  /** Resolves once everything that was told of has been touched. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  /** Takes no more, and ends what it is at. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue.clear();
    await this.idle();
  }

  async #work(): Promise<void> {
    // After the commit of whoever told: nothing of the host's waits for what follows.
    await Promise.resolve();
    for (const [key, changed] of this.#queue) {
      this.#queue.delete(key);
      await this.#touch(changed);
    }
  }

  async #touch({ type, id, ownerId: told }: ChangedSubject): Promise<void> {
    try {
      const ownerId = told === undefined ? await this.parts.ownerOf({ type, id }) : told;
      if (ownerId !== undefined) await this.parts.touch({ type, id }, ownerId);
    } catch (error) {
      const where = `Subject ${type} ${id} was written and could not be touched; its polls look at their next time`;
      this.parts.log.warn(`${where}: ${errorLine(error)}`);
    }
  }
}
