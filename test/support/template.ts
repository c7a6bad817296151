/**
 * Fills the database that every test database is a copy of; runs once a test run, before the first test.
 *
 * Runs in plain Node through `register-typescript.mjs`, not in Jest. Every connection must be closed on return: a
 * database that somebody is connected to can't be copied.
 */
export async function prepareTemplate(_url: string): Promise<void> {
  // The copies start empty.
}
