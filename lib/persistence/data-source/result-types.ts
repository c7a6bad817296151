/**
 * How the engine's statements read columns, whatever parsers the host has set in `pg` for its own queries (hosts turn
 * int8 into numbers, timestamps into strings or Luxon objects, json into anything).
 *
 * Booleans and 16- or 32-bit integers and floats come as JavaScript values, bytea as a Buffer. Everything else comes as the
 * text that PostgreSQL sends: bigints, uuids, json, and timestamps too, which a statement casts to the form it wants.
 */
const PARSERS = new Map<number, (value: string) => unknown>([
  [16, (value) => value === 't'],
  [17, (value) => Buffer.from(value.slice(2), 'hex')],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
]);

const asText = (value: string): unknown => value;

export const RESULT_TYPES = {
  getTypeParser: (oid: number): ((value: string) => unknown) => PARSERS.get(oid) ?? asText,
};
