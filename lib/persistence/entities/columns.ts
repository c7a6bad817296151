import type { EntitySchemaColumnOptions } from 'typeorm';

type ColumnExtras = Omit<EntitySchemaColumnOptions, 'type' | 'name'>;
type ColumnFactory = (name: string, extras?: ColumnExtras) => EntitySchemaColumnOptions;

const columnOf =
  (type: NonNullable<EntitySchemaColumnOptions['type']>): ColumnFactory =>
  (name, extras) => ({ type, name, ...extras });

export const uuid = columnOf('uuid');
export const text = columnOf('text');
export const int = columnOf('int');
export const smallint = columnOf('smallint');
/** Read as text: a JavaScript number would lose digits. */
export const bigint = columnOf('bigint');
export const bool = columnOf('boolean');
export const json = columnOf('json');
export const bytes = columnOf('bytea');
export const instant = columnOf('timestamptz');

export const primary = { primary: true } as const;
export const nullable = { nullable: true } as const;

/** An instant the database's clock fills in. */
export const instantNow = (name: string): EntitySchemaColumnOptions => instant(name, { default: () => 'now()' });
