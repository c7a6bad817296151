/** Column types of rows handed to a statement. */
type ColumnType =
  'uuid' | 'text' | 'int' | 'smallint' | 'bigint' | 'float8' | 'json' | 'boolean' | 'bytea' | 'timestamptz';

/**
 * Rows handed to a statement as one array a column (`unnest`): however many rows, one statement text, one plan, one trip.
 */
export class RowSet<Row extends object> {
  private readonly columns: readonly (keyof Row & string)[];

  constructor(private readonly types: { readonly [K in keyof Row]-?: ColumnType }) {
    this.columns = Object.keys(types) as (keyof Row & string)[];
  }

  /** How many parameters it takes. */
  get width(): number {
    return this.columns.length;
  }

  /** `unnest($2::uuid[], …) WITH ORDINALITY AS name(a, b, …, nr)`: `nr` counts from 1 in the order of the rows. */
  source(name: string, firstParameter: number): string {
    const parameters = this.columns.map((column, index) => `$${firstParameter + index}::${this.types[column]}[]`);
    return `unnest(${parameters.join(', ')}) WITH ORDINALITY AS ${name}(${this.columns.join(', ')}, nr)`;
  }

  values(rows: readonly Row[]): unknown[] {
    return this.columns.map((column) => rows.map((row) => row[column] ?? null));
  }
}
