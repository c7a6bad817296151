/**
 * Asks until there is something, and says what. For what only a look can tell: rows, another process over HTTP. Where the product
 * says when (`told(…)`, a result, a message of a forked process), wait for that instead.
 *
 * What is asked fails the test by rejecting. There is no limit of time but the test's own; between two looks the machine is others'.
 */
export async function until<T>(asked: () => Promise<T | false | undefined>, pauseMs = 10): Promise<T> {
  for (;;) {
    const answer = await asked();
    if (answer !== false && answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** A pool of pg, or a DataSource of TypeORM. */
interface Asked {
  query(text: string): Promise<readonly unknown[] | { readonly rows: readonly unknown[] }>;
}

/** Until a statement of somebody's stands before a lock in this database. */
export const untilBlocked = (database: Asked): Promise<true> =>
  until(() => isThere(database, `wait_event_type = 'Lock'`));

/** Until nobody else is connected to this database: server processes of a killed client may still be at its last statements. */
export const untilAlone = (database: Asked): Promise<true> =>
  until(async () => !(await isThere(database, 'pid <> pg_backend_pid()')));

async function isThere(database: Asked, condition: string): Promise<boolean> {
  const found = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`,
  );
  return ('rows' in found ? found.rows : found).length > 0;
}
