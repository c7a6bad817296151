import type { ColumnMetadata } from './entity-subject.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const INTEGER = /^-?[0-9]{1,19}$/;

/** The largest of each integer type of PostgreSQL. */
const INTEGERS: Readonly<Record<string, bigint>> = {
  int2: 2n ** 15n - 1n,
  smallint: 2n ** 15n - 1n,
  int: 2n ** 31n - 1n,
  int4: 2n ** 31n - 1n,
  integer: 2n ** 31n - 1n,
  int8: 2n ** 63n - 1n,
  bigint: 2n ** 63n - 1n,
};

/**
 * Whether a text can be the value of a key: the server refuses one that can't, which would fail an attempt over and over, and end
 * the host's transaction. There is no such entity then.
 */
export function canBeId(column: ColumnMetadata, id: string): boolean {
  const type = column.type === Number ? 'integer' : column.type;
  if (type === 'uuid' || column.generationStrategy === 'uuid') return UUID.test(id);
  const largest = typeof type === 'string' ? INTEGERS[type] : undefined;
  if (largest === undefined) return true;
  return INTEGER.test(id) && BigInt(id) <= largest && BigInt(id) >= -largest;
}
