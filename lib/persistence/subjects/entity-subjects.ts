import type { DataSource, EntityManager } from 'typeorm';
import { ownedBy } from '../row-level-security/owner-setting.js';
import { inTurn } from '../row-level-security/turns.js';
import type { EntitySubject } from './entity-subject.js';
import { subscribe } from './host-subscriber.js';
import { SubjectSubscriber, type ChangedSubject } from './subject-subscriber.js';
import { findEntitySubjects, type ReadMark } from './find-entity-subjects.js';

/** The marked entities of the host's DataSource, and how they are loaded. */
export class EntitySubjects {
  #found: ReadonlyMap<string, EntitySubject> | undefined;

  constructor(
    private readonly host: DataSource,
    private readonly readMark: ReadMark,
    /** Under row-level security, which the host's own tables may have too. */
    private readonly guarded = false,
  ) {}

  /**
   * By type. None before the DataSource is initialised: it has no entities then.
   *
   * @throws InvalidOptionsError with everything that is wrong with their marks
   */
  get byType(): ReadonlyMap<string, EntitySubject> {
    if (this.#found) return this.#found;
    if (!this.host.isInitialized) return new Map();
    return (this.#found = findEntitySubjects(this.host, this.readMark));
  }

  /**
   * Tells of marked entities that are written from now on, through this DataSource, after the commit. Returns what ends that;
   * undefined where no entity is marked.
   */
  watch(
    onChanged: (changed: readonly ChangedSubject[]) => void,
    onError: (error: unknown) => void,
  ): (() => void) | undefined {
    const marked = [...this.byType.values()];
    if (marked.length === 0) return undefined;
    return subscribe(this.host, new SubjectSubscriber(marked, onChanged, onError));
  }

  /**
   * Reads through the given manager where there is one, else on a connection of the host's pool. Under row-level security in a session of
   * the owner, and the manager's transaction is its caller's again afterwards.
   */
  load(subject: EntitySubject, id: string, ownerId: string | null, given?: unknown): Promise<object | null> {
    const manager = given as EntityManager | undefined;
    if (!this.guarded || ownerId === null) return subject.load(manager ?? this.host.manager, id);
    const read = (on: EntityManager) =>
      ownedBy({ query: (sql, values) => on.query(sql, values) }, ownerId, () => subject.load(on, id));
    // In turn with calls of the engine that others made in the same transaction.
    return manager ? inTurn(manager.queryRunner, () => read(manager)) : this.host.transaction(read);
  }
}
