import type { DataSource, EntityManager } from 'typeorm';
import type { EntitySubject } from './entity-subject.js';
import { findEntitySubjects, type ReadMark } from './find-entity-subjects.js';

/** The marked entities of the host's DataSource, and how they are loaded. */
export class EntitySubjects {
  #found: ReadonlyMap<string, EntitySubject> | undefined;

  constructor(
    private readonly host: DataSource,
    private readonly readMark: ReadMark,
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

  /** Reads through the given manager where there is one, else on a connection of the host's pool. */
  load(subject: EntitySubject, id: string, manager?: unknown): Promise<object | null> {
    return subject.load((manager as EntityManager | undefined) ?? this.host.manager, id);
  }
}
