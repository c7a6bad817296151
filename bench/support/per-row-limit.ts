import pg from 'pg';
import { v7 } from 'uuid';

/**
 * What plain PostgreSQL gives when each step is a statement that claims one row with SKIP LOCKED and one that records it and
 * inserts the next: prepared statements, ten connections, no engine. The yardstick of every round.
 */
export async function perRowLimit(url: string, runs: number): Promise<{ stepsPerSecond: number }> {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query(`
    CREATE TABLE bench_steps (id uuid PRIMARY KEY, run uuid NOT NULL, step int NOT NULL, state int NOT NULL DEFAULT 0, input json, output json);
    CREATE INDEX ON bench_steps (id) WHERE state = 0;`);
  const ids = Array.from({ length: runs }, () => v7());
  await pool.query(
    `INSERT INTO bench_steps (id, run, step, input) SELECT id, id, 1, '{"n":1}' FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
  let steps = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const { rows } = await pool.query({
        name: 'claim',
        text: `UPDATE bench_steps SET state = 1 WHERE id = (SELECT id FROM bench_steps WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, run, step`,
      });
      const row = rows[0] as { id: string; run: string; step: number } | undefined;
      if (!row) return;
      await pool.query({
        name: 'record',
        text: `
          WITH done AS (UPDATE bench_steps SET state = 2, output = $2 WHERE id = $1 RETURNING run, step)
          INSERT INTO bench_steps (id, run, step, input) SELECT $3, run, step + 1, $2 FROM done WHERE step < 3`,
        values: [row.id, '{"n":1}', v7()],
      });
      steps += 1;
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: 10 }, work));
  const seconds = (performance.now() - begun) / 1000;
  await pool.end();
  if (steps !== runs * 3) throw new Error(`per-row limit: ${steps} steps instead of ${runs * 3}`);
  return { stepsPerSecond: steps / seconds };
}
