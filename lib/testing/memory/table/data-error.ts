/**
 * A value that a database would refuse, with the SQLSTATE that PostgreSQL gives it: the same mistakes show in tests on
 * either store. `isDataError` knows it.
 *
 * - `22021`: U+0000 in a text
 * - `23505`: a primary key that exists already
 */
export class MemoryDataError extends Error {
  override readonly name = 'MemoryDataError';

  constructor(
    readonly code: '22021' | '23505',
    message: string,
  ) {
    super(message);
  }
}
