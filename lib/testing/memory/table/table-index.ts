/** A view on a table's rows that is kept up to date by the table. */
export interface TableIndex<Row> {
  add(row: Row): void;
  remove(row: Row): void;
}

/** Rows by what they have in common, in the order in which they were last written; `undefined` leaves a row out. */
export class GroupIndex<Row> implements TableIndex<Row> {
  readonly #groups = new Map<string, Set<Row>>();

  constructor(private readonly groupOf: (row: Row) => string | undefined) {}

  of(value: string): Row[] {
    return [...(this.#groups.get(value) ?? [])];
  }

  has(value: string): boolean {
    return this.#groups.has(value);
  }

  add(row: Row): void {
    const value = this.groupOf(row);
    if (value === undefined) return;
    const group = this.#groups.get(value);
    if (group === undefined) this.#groups.set(value, new Set([row]));
    else group.add(row);
  }

  remove(row: Row): void {
    const value = this.groupOf(row);
    if (value === undefined) return;
    const group = this.#groups.get(value);
    group?.delete(row);
    if (group?.size === 0) this.#groups.delete(value);
  }
}

/** Some of a table's rows, in order; `compare` must never call two different rows equal. */
export class SortedIndex<Row> implements TableIndex<Row> {
  readonly #rows: Row[] = [];

  constructor(
    private readonly includes: (row: Row) => boolean,
    private readonly compare: (a: Row, b: Row) => number,
  ) {}

  get rows(): readonly Row[] {
    return this.#rows;
  }

  first(): Row | undefined {
    return this.#rows[0];
  }

  add(row: Row): void {
    if (this.includes(row)) this.#rows.splice(this.#placeOf(row), 0, row);
  }

  remove(row: Row): void {
    if (this.includes(row)) this.#rows.splice(this.#placeOf(row), 1);
  }

  #placeOf(row: Row): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(this.#rows[middle] as Row, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
