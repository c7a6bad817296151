import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { EntityLifecycle } from './entity-lifecycle.js';
import { canBeId } from './subject-id.js';

export type ColumnMetadata = EntityMetadata['columns'][number];

/** What `@WorkflowSubject` says of an entity class; unchecked. */
export interface SubjectMark {
  readonly type?: unknown;
  readonly owner?: unknown;
  readonly fields?: unknown;
  readonly writable?: unknown;
  readonly lifecycles?: unknown;
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
    /** Names of the properties that graphs may write. */
    readonly writable: readonly string[] = [],
    /** By name. */
    readonly lifecycles: ReadonlyMap<string, EntityLifecycle> = new Map(),
  ) {}

  /** Null where there is none. What is soft-deleted is not there. */
  async load(manager: EntityManager, id: string): Promise<object | null> {
    if (!canBeId(this.key, id)) return null;
    const where = this.key.createValueMap(id) as ObjectLiteral;
    return manager.findOne(this.metadata.target, { where });
  }

  /** The row, locked until the transaction ends; null where there is none. */
  async lock(manager: EntityManager, id: string): Promise<object | null> {
    if (!canBeId(this.key, id)) return null;
    const where = this.key.createValueMap(id) as ObjectLiteral;
    const lock = { mode: 'pessimistic_write' } as const;
    return manager.findOne(this.metadata.target, { where, lock, loadEagerRelations: false });
  }

  /** What expressions may read of an entity. */
  read(entity: object): Record<string, unknown> {
    return Object.fromEntries(this.fields.map((name) => [name, valueAt(entity, name)]));
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

/** Of a property, or one of an embedded entity: `address.city`. */
function valueAt(entity: object, path: string): unknown {
  let at: unknown = entity;
  for (const name of path.split('.')) at = (at as Record<string, unknown> | null | undefined)?.[name];
  return at ?? null;
}
