import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { canBeId } from './subject-id.js';

export type ColumnMetadata = EntityMetadata['columns'][number];

/** What `@WorkflowSubject` says of an entity class; unchecked. */
export interface SubjectMark {
  readonly type?: unknown;
  readonly owner?: unknown;
  readonly fields?: unknown;
}

/** A TypeORM entity that runs may be about, checked. */
export class EntitySubject {
  constructor(
    readonly type: string,
    readonly metadata: EntityMetadata,
    private readonly key: ColumnMetadata,
    /** Undefined: its rows belong to nobody. */
    private readonly owner: ColumnMetadata | undefined,
    /** Names of the properties that expressions may read. */
    readonly fields: readonly string[],
  ) {}

  /** Null where there is none. What is soft-deleted is not there. */
  async load(manager: EntityManager, id: string): Promise<object | null> {
    if (!canBeId(this.key, id)) return null;
    const where = this.key.createValueMap(id) as ObjectLiteral;
    return manager.findOne(this.metadata.target, { where });
  }

  /** The stored id of whoever owns an entity: the column's value as a text; null = nobody. */
  ownerOf(entity: object): string | null {
    return this.owner ? (textOf(this.owner.getEntityValue(entity as ObjectLiteral)) ?? null) : null;
  }

  /** Whether an entity, which may be a part of one, says whose it is. */
  namesOwner(entity: object): boolean {
    return !this.owner || this.owner.getEntityValue(entity as ObjectLiteral) !== undefined;
  }

  /** Undefined of an entity that has none (any more). */
  idOf(entity: object): string | undefined {
    return textOf(this.key.getEntityValue(entity as ObjectLiteral));
  }
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  // Keys of TypeORM are texts, numbers, bigints; whatever else a transformer made of one says itself what it reads as.
  return String(value as string);
}
