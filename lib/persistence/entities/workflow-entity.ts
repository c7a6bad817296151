import { EntitySchema } from 'typeorm';
import type { EntitySchemaColumnOptions, EntitySchemaIndexOptions } from 'typeorm';
import type { TableNames } from '../table-names.js';

interface WorkflowEntity<Row> {
  /** For `dataSource.getRepository('WorkflowRun')`. */
  readonly name: string;
  readonly table: string;
  readonly columns: { readonly [Property in keyof Row]-?: EntitySchemaColumnOptions };
  /** Index names without the prefix, each with its properties; `partial` ones TypeORM can't express. */
  readonly indices?: readonly { readonly name: string; readonly columns?: readonly (keyof Row & string)[] }[];
}

/**
 * An entity over a table that the migrations own.
 *
 * `synchronize: false`, so that a host which adds it to its own DataSource is never offered changes to the table, nor made
 * to: `synchronize` would drop the partial indexes it doesn't understand (fault H10).
 */
export function workflowEntity<Row extends object>(
  { schema, prefix }: TableNames,
  { name, table, columns, indices = [] }: WorkflowEntity<Row>,
): EntitySchema<Row> {
  return new EntitySchema<Row>({
    name,
    tableName: `${prefix}${table}`,
    schema,
    synchronize: false,
    columns: columns as { [Property in keyof Row]: EntitySchemaColumnOptions },
    indices: indices.map(({ name: index, columns: properties }): EntitySchemaIndexOptions => {
      const named = `${prefix}${index}`;
      return properties ? { name: named, columns: [...properties] } : { name: named, synchronize: false };
    }),
  });
}
