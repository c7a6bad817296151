import { MemoryDataError } from './data-error.js';
import type { Journal } from './journal.js';
import type { TableIndex } from './table-index.js';

/** Rows by primary key. Every write goes through it, is noted in the journal and keeps the indexes right. */
export class MemoryTable<Row extends object> {
  readonly #rows = new Map<string, Row>();

  constructor(
    private readonly name: string,
    private readonly keyOf: (row: Row) => string,
    private readonly journal: Journal,
    private readonly indexes: readonly TableIndex<Row>[] = [],
  ) {}

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  all(): IterableIterator<Row> {
    return this.#rows.values();
  }

  /** Adds a row. @throws MemoryDataError when its key exists or a text holds U+0000 */
  insert(row: Row): Row {
    const key = this.keyOf(row);
    if (this.#rows.has(key))
      throw new MemoryDataError('23505', `${this.name} holds a row with the key ${key} already.`);
    this.#refuseNul(row);
    this.#put(key, row);
    this.journal.note(() => this.#take(key, row));
    return row;
  }

  /** Changes columns of a row in place. @throws MemoryDataError when a text holds U+0000 */
  patch(row: Row, changes: Partial<Row>): void {
    this.#refuseNul(changes);
    const before: Partial<Row> = {};
    for (const column of Object.keys(changes) as (keyof Row)[]) before[column] = row[column];
    this.#assign(row, changes);
    this.journal.note(() => this.#assign(row, before));
  }

  /** Removes a row; one that is gone already is no mistake. */
  remove(row: Row): void {
    const key = this.keyOf(row);
    if (this.#rows.get(key) !== row) return;
    this.#take(key, row);
    this.journal.note(() => this.#put(key, row));
  }

  #put(key: string, row: Row): void {
    this.#rows.set(key, row);
    for (const index of this.indexes) index.add(row);
  }

  #take(key: string, row: Row): void {
    this.#rows.delete(key);
    for (const index of this.indexes) index.remove(row);
  }

  #assign(row: Row, changes: Partial<Row>): void {
    for (const index of this.indexes) index.remove(row);
    Object.assign(row, changes);
    for (const index of this.indexes) index.add(row);
  }

  /** JSON text never holds a raw U+0000 (it is written as an escape), so one rule serves every text. */
  #refuseNul(values: Partial<Row>): void {
    for (const [column, value] of Object.entries(values)) {
      if (typeof value === 'string' && value.includes('\u0000')) {
        throw new MemoryDataError('22021', `${this.name}.${column} can't hold U+0000.`);
      }
    }
  }
}
