import type { EntityMetadata, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import type { EntitySubject } from './entity-subject.js';

/** An entity that was written, committed by now. */
export interface ChangedSubject {
  readonly type: string;
  readonly id: string;
  /** Whose it was, or is; undefined where what was written does not say. */
  readonly ownerId: string | null | undefined;
}

/** What TypeORM tells of a change; each kind of it leaves something out. */
interface Change {
  readonly metadata: EntityMetadata;
  readonly queryRunner: QueryRunner;
  readonly entity?: unknown;
  readonly databaseEntity?: unknown;
  readonly entityId?: unknown;
}

/**
 * Hears of marked entities that were inserted, updated or removed, and tells of each once for a transaction, after its commit.
 *
 * Of a commit to a savepoint nothing is told, of a rolled back transaction neither. It never throws: that would fail the host's
 * transaction. Changes by criteria (`update({ … }, …)`, query builders, plain SQL) name no entity, and are not heard of.
 */
export class SubjectSubscriber implements EntitySubscriberInterface<object> {
  readonly #pending = new WeakMap<QueryRunner, Map<string, ChangedSubject>>();
  readonly #subjects = new WeakMap<EntityMetadata, { readonly subject: EntitySubject | undefined }>();

  constructor(
    private readonly marked: readonly EntitySubject[],
    private readonly onChanged: (changed: readonly ChangedSubject[]) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  afterInsert(change: Change): void {
    this.#note(change);
  }

  afterUpdate(change: Change): void {
    this.#note(change);
  }

  afterRemove(change: Change): void {
    this.#note(change);
  }

  afterSoftRemove(change: Change): void {
    this.#note(change);
  }

  afterRecover(change: Change): void {
    this.#note(change);
  }

  afterTransactionCommit({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) this.#tell(queryRunner);
  }

  afterTransactionRollback({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) this.#pending.delete(queryRunner);
  }

  #note(change: Change): void {
    try {
      const subject = this.#subjectOf(change.metadata);
      if (!subject) return;
      const { queryRunner } = change;
      const pending = this.#pending.get(queryRunner) ?? new Map<string, ChangedSubject>();
      this.#pending.set(queryRunner, pending);
      for (const changed of changesOf(subject, change))
        pending.set(JSON.stringify([changed.type, changed.id, changed.ownerId ?? null]), changed);
      // Committed by itself already.
      if (!queryRunner.isTransactionActive) this.#tell(queryRunner);
    } catch (error) {
      this.onError(error);
    }
  }

  #tell(queryRunner: QueryRunner): void {
    const pending = this.#pending.get(queryRunner);
    this.#pending.delete(queryRunner);
    if (!pending || pending.size === 0) return;
    try {
      this.onChanged([...pending.values()]);
    } catch (error) {
      this.onError(error);
    }
  }

  /** That of the entity, or of the marked one that it extends. */
  #subjectOf(metadata: EntityMetadata): EntitySubject | undefined {
    let known = this.#subjects.get(metadata);
    if (!known) {
      const tree: readonly unknown[] = [metadata.target, ...metadata.inheritanceTree];
      known = { subject: this.marked.find((subject) => tree.includes(subject.metadata.target)) };
      this.#subjects.set(metadata, known);
    }
    return known.subject;
  }
}

/** One, or two where its owner changed: the runs of both look again. */
function changesOf(subject: EntitySubject, { entity, databaseEntity, entityId }: Change): ChangedSubject[] {
  const states = [databaseEntity, entity].filter(isObject);
  const id = states.map((state) => subject.idOf(state)).find((one) => one !== undefined) ?? idOf(subject, entityId);
  if (id === undefined) return [];
  const named = states.filter((state) => subject.namesOwner(state)).map((state) => subject.ownerOf(state));
  const owners = named.length > 0 ? new Set(named) : [undefined];
  return [...owners].map((ownerId) => ({ type: subject.type, id, ownerId }));
}

function idOf(subject: EntitySubject, entityId: unknown): string | undefined {
  if (isObject(entityId)) return subject.idOf(entityId);
  return entityId === undefined || entityId === null ? undefined : String(entityId as string);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
