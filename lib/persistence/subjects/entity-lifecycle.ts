import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';

type ColumnMetadata = EntityMetadata['columns'][number];

/** A move of an entity, for its history. */
export interface EntityMove {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly lifecycle: string;
  readonly from: string;
  readonly to: string;
  readonly actor: unknown;
  readonly reason: string | null;
  readonly runId: string;
}

/** Columns that an entity of moves has, and those that it may have. */
export const NEEDED_OF_HISTORY = ['subjectId', 'from', 'to'] as const;
const OF_HISTORY: readonly (keyof EntityMove)[] = [
  ...NEEDED_OF_HISTORY,
  'subjectType',
  'lifecycle',
  'actor',
  'reason',
  'runId',
];

/** Which state of an entity may follow which. */
export class EntityLifecycle {
  constructor(
    readonly name: string,
    /** It holds the state. */
    private readonly column: ColumnMetadata,
    private readonly transitions: ReadonlyMap<string, ReadonlySet<string>>,
    private readonly history: EntityMetadata | null,
  ) {}

  /** Null: its column is null, so that it is in no state, from which nothing follows. */
  stateOf(entity: object): string | null {
    const state: unknown = this.column.getEntityValue(entity as ObjectLiteral);
    return state === null || state === undefined ? null : String(state as string);
  }

  /** As the app names it. */
  get field(): string {
    return this.column.propertyPath;
  }

  put(entity: object, state: string): void {
    this.column.setEntityValue(entity as ObjectLiteral, state);
  }

  /** Undefined where it may; else why not, without a full stop. */
  refusal(from: string, to: string): string | undefined {
    const after = [...(this.transitions.get(from) ?? [])];
    if (after.includes(to)) return undefined;
    return after.length === 0 ? `nothing follows "${from}"` : `from "${from}" it goes to ${after.join(', ')}`;
  }

  async keep(manager: EntityManager, move: EntityMove): Promise<void> {
    if (this.history === null) return;
    const row: Record<string, unknown> = {};
    for (const name of OF_HISTORY) {
      const column = this.history.findColumnWithPropertyName(name);
      if (column) row[name] = isText(move[name]) || isJson(column.type) ? move[name] : JSON.stringify(move[name]);
    }
    await manager.insert(this.history.target, row);
  }
}

const isText = (value: unknown): boolean => value === null || typeof value === 'string';
export const isJson = (type: unknown): boolean => type === 'json' || type === 'jsonb' || type === 'simple-json';
