import pg from 'pg';
import { v7 } from 'uuid';

/**
 * What three durable commits one after another take here, start, claim and record as plain prepared statements on one
 * connection: no engine that keeps each of them can be faster on this disk.
 */
export async function latencyFloor(url: string, samples: number): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'CREATE TABLE bench_floor (id uuid PRIMARY KEY, state int NOT NULL DEFAULT 0, input json, output json)',
  );
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const begun = performance.now();
    await client.query({
      name: 'start',
      text: 'INSERT INTO bench_floor (id, input) VALUES ($1, $2)',
      values: [v7(), '{}'],
    });
    const { rows } = await client.query({
      name: 'claim',
      text: `UPDATE bench_floor SET state = 1 WHERE id = (SELECT id FROM bench_floor WHERE state = 0 LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id`,
    });
    await client.query({
      name: 'record',
      text: 'UPDATE bench_floor SET state = 2, output = $2 WHERE id = $1',
      values: [rows[0].id, '{}'],
    });
    times.push(performance.now() - begun);
  }
  await client.end();
  return times;
}
