import pg from 'pg';
import { bootApp } from './app.js';
import { countStatements, readCounts } from './statement-counts.js';

/** What a backlog cost. */
export interface Drain {
  readonly stepsPerSecond: number;
  readonly runsPerSecond: number;
  readonly statementsPerStep: number;
  readonly commitsPerStep: number;
  readonly walPerRun: number;
  readonly cpuMicrosPerStep: number;
}

export interface Backlog {
  readonly url: string;
  /** Starts the runs, in an app that works at none. */
  readonly start: (starter: Awaited<ReturnType<typeof bootApp>>) => Promise<unknown>;
  /** How many there are, and how many stages a worker does of each. */
  readonly count: number;
  readonly stages: number;
  readonly concurrency: number;
}

/** Starts runs, then drains them with one worker, and says what that cost. */
export async function drain({ url, start, count, stages, concurrency }: Backlog): Promise<Drain> {
  // Graphs are held to 60 starts a minute where nobody says otherwise.
  const limits = { startsPerMinute: 1_000_000 };
  const starter = await bootApp(url, { worker: false, wake: { every: false }, limits });
  await start(starter);
  await starter.app.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('VACUUM ANALYZE');
  const statements = countStatements();
  const before = await readCounts(url);
  const worker = await bootApp(url, { worker: { concurrency } });
  const [sent, cpu] = [statements.read(), process.cpuUsage()];
  for (;;) {
    const { rows } = await client.query(`SELECT NOT EXISTS (SELECT 1 FROM workflow_jobs) AS done`);
    if (rows[0].done) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const used = process.cpuUsage(cpu);
  const sentNow = statements.read();
  await worker.app.close();
  const after = await readCounts(url);
  statements.stop();
  const { rows } = await client.query(
    `SELECT (SELECT count(*)::int FROM workflow_runs WHERE status = 'COMPLETED') AS runs, (SELECT count(*)::int FROM workflow_stage_runs WHERE status = 'COMPLETED' AND attempt = 1) AS stages,
            (SELECT extract(epoch FROM max(finished_at) - min(started_at))::float8 FROM workflow_stage_runs) AS seconds`,
  );
  await client.end();
  // From the first claim to the last record, by the database's clock: booting Nest is not what is measured.
  const seconds: number = rows[0].seconds;
  if (rows[0].runs !== count || rows[0].stages !== count * stages)
    throw new Error(`not drained: ${JSON.stringify(rows[0])}`);
  const steps = count * stages;
  return {
    stepsPerSecond: steps / seconds,
    runsPerSecond: count / seconds,
    statementsPerStep: (sentNow - sent) / steps,
    commitsPerStep: (after.commits - before.commits) / steps,
    walPerRun: (after.walBytes - before.walBytes) / count,
    cpuMicrosPerStep: (used.user + used.system) / steps,
  };
}

/** The inputs of so many runs. */
export const inputs = (count: number): { readonly input: { readonly n: number } }[] =>
  Array.from({ length: count }, (_, n) => ({ input: { n } }));
