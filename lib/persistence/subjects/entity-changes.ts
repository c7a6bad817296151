import type { DataSource, EntityManager, EntityMetadata, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { subscribe } from './host-subscriber.js';

/** A change that TypeORM tells of, of one entity. Values are those of its columns, by property. */
export interface EntityChangeSeen {
  /** The name of the entity. */
  readonly entity: string;
  readonly change: 'insert' | 'update' | 'remove';
  readonly id: string;
  /** What was changed; of an update only. */
  readonly changed: readonly string[];
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  /** The entity as it was written, for whoever knows more of it. */
  readonly written: object;
  readonly metadata: EntityMetadata;
  /** Whose transaction the change is in; undefined: it is committed by itself. */
  readonly manager: EntityManager | undefined;
}

interface Told {
  readonly metadata: EntityMetadata;
  readonly queryRunner: QueryRunner;
  readonly manager: EntityManager;
  readonly entity?: unknown;
  readonly databaseEntity?: unknown;
  readonly entityId?: unknown;
  readonly updatedColumns?: readonly { readonly propertyName: string; readonly isSelect: boolean }[];
}

/**
 * Hears of changes of some entities while their transaction is open, and waits for whoever keeps them: what is rolled back is then
 * forgotten with them. Changes by criteria (`update({ … }, …)`, query builders, plain SQL) name no entity, and are not heard of.
 */
export class EntityChanges implements EntitySubscriberInterface<object> {
  readonly #named: ReadonlySet<unknown>;

  constructor(
    entities: readonly unknown[],
    private readonly onChanged: (change: EntityChangeSeen) => Promise<void>,
  ) {
    this.#named = new Set(entities);
  }

  /** From now on, through this DataSource. Returns what ends it. */
  watch(host: DataSource): () => void {
    return subscribe(host, this);
  }

  afterInsert(told: Told): Promise<void> | void {
    return this.#tell(told, 'insert');
  }

  afterUpdate(told: Told): Promise<void> | void {
    return this.#tell(told, 'update');
  }

  afterRemove(told: Told): Promise<void> | void {
    return this.#tell(told, 'remove');
  }

  /** Gone for whoever reads it, as a subject is for runs. */
  afterSoftRemove(told: Told): Promise<void> | void {
    return this.#tell(told, 'remove');
  }

  afterRecover(told: Told): Promise<void> | void {
    return this.#tell(told, 'insert');
  }

  #tell(told: Told, change: EntityChangeSeen['change']): Promise<void> | void {
    const { metadata, queryRunner, manager } = told;
    if (!this.#named.has(metadata.target) && !this.#named.has(metadata.name)) return;
    const before = isObject(told.databaseEntity) ? valuesOf(metadata, told.databaseEntity) : null;
    const written = isObject(told.entity)
      ? told.entity
      : isObject(told.databaseEntity)
        ? told.databaseEntity
        : undefined;
    const id = idOf(metadata, told);
    if (written === undefined || id === undefined) return;
    const now = { ...before, ...valuesOf(metadata, written) };
    return this.onChanged({
      entity: metadata.name,
      change,
      id,
      changed: change === 'update' ? changedIn(told) : [],
      before: change === 'remove' ? now : change === 'insert' ? null : before,
      after: change === 'remove' ? null : now,
      written: { ...(isObject(told.databaseEntity) ? told.databaseEntity : {}), ...written },
      metadata,
      manager: queryRunner.isTransactionActive ? manager : undefined,
    });
  }
}

/** What is not read with an entity is nobody's to know; TypeORM takes it for changed whenever it is written. */
const changedIn = ({ updatedColumns = [] }: Told): string[] =>
  updatedColumns.filter(({ isSelect }) => isSelect).map(({ propertyName }) => propertyName);

/** Those of the columns that are read with an entity, as JSON holds them; what it cannot hold is left out. */
function valuesOf(metadata: EntityMetadata, entity: object): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const column of metadata.columns) {
    if (!column.isSelect) continue;
    const value = plain(column.getEntityValue(entity));
    if (value !== undefined) values[column.propertyName] = value;
  }
  return values;
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array || typeof value === 'function' || typeof value === 'symbol') return undefined;
  return value;
}

/** Of a key of several columns their values, in order, as a list. After a removal TypeORM has emptied it, and says it beside. */
function idOf({ primaryColumns }: EntityMetadata, { entity, databaseEntity, entityId }: Told): string | undefined {
  for (const state of [databaseEntity, entity, entityId].filter(isObject)) {
    const key = primaryColumns.map((column) => plain(column.getEntityValue(state)));
    if (key.every((part) => part !== undefined && part !== null))
      return key.length === 1 ? String(key[0] as string) : JSON.stringify(key);
  }
  return isObject(entityId) || entityId === undefined || entityId === null ? undefined : String(entityId as string);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
