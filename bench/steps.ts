/** 20 durable steps in each of 200 stages at once, and suspending sleeps, beside the per-row limit: `npm run bench:steps`. */
import pg from 'pg';
import { bootApp, Sleeps, STEPS, TwentySteps } from './support/app.js';
import { perRowLimit } from './support/per-row-limit.js';
import { median, openBenchServer, options } from './support/server.js';
import { countStatements } from './support/statement-counts.js';
import type { WorkflowClass } from '../lib/index.js';

const { runs, rounds } = options({ runs: 1000, rounds: 3, groups: 0 });
const CONCURRENCY = 200;

interface Result {
  readonly perSecond: number;
  readonly statements: number;
  readonly cpuMicros: number;
}

/** Starts `count` runs, lets a worker have them, and times until `done` holds. */
async function work(
  url: string,
  workflow: WorkflowClass,
  count: number,
  units: number,
  done: string,
  seconds: string,
): Promise<Result> {
  const starter = await bootApp(url, { worker: false, wake: { every: false } });
  await starter.workflows.startMany(
    workflow as never,
    Array.from({ length: count }, (_, n) => ({ input: { n } })) as never,
  );
  await starter.app.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('VACUUM ANALYZE');
  const statements = countStatements();
  const worker = await bootApp(url, { worker: { concurrency: CONCURRENCY } });
  const [sent, cpu] = [statements.read(), process.cpuUsage()];
  for (;;) {
    const { rows } = await client.query(done);
    if (rows[0].done) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const used = process.cpuUsage(cpu);
  const sentNow = statements.read();
  await worker.app.close();
  statements.stop();
  const { rows } = await client.query(seconds);
  await client.end();
  if (rows[0].count !== units) throw new Error(`${rows[0].count} of ${units}`);
  return {
    perSecond: units / (rows[0].seconds as number),
    statements: (sentNow - sent) / units,
    cpuMicros: (used.user + used.system) / units,
  };
}

const { server, freshUrl } = await openBenchServer();
try {
  const limits: number[] = [];
  const results = new Map<string, Result[]>();
  const keep = (name: string, result: Result) => results.set(name, [...(results.get(name) ?? []), result]);
  for (let round = 0; round < rounds; round += 1) {
    limits.push((await perRowLimit(await freshUrl(), runs)).stepsPerSecond);
    keep(
      `${STEPS} steps a stage`,
      await work(
        await freshUrl(),
        TwentySteps as never,
        runs,
        runs * STEPS,
        `SELECT NOT EXISTS (SELECT 1 FROM workflow_jobs) AS done`,
        `SELECT count(*)::int AS count, extract(epoch FROM max(fired_at) - min(created_at))::float8 AS seconds FROM workflow_steps WHERE status = 'completed' AND attempt = 1`,
      ),
    );
    keep(
      'stages that begin to sleep',
      await work(
        await freshUrl(),
        Sleeps as never,
        runs * 3,
        runs * 3,
        `SELECT NOT EXISTS (SELECT 1 FROM workflow_jobs) AS done`,
        `SELECT count(*)::int AS count, extract(epoch FROM max(s.created_at) - min(r.started_at))::float8 AS seconds FROM workflow_steps s JOIN workflow_stage_runs r ON r.id = s.stage_run_id WHERE s.status = 'waiting'`,
      ),
    );
  }
  const limit = median(limits);
  console.log(
    `node ${process.version}, ${runs} runs, ${rounds} rounds, medians, concurrency ${CONCURRENCY}; per-row limit ${Math.round(limit)} steps/s`,
  );
  for (const [name, rows] of results) {
    const of = (pick: (row: Result) => number) => median(rows.map(pick));
    const rate = of((row) => row.perSecond);
    console.log(
      `${name.padEnd(28)} ${Math.round(rate).toString().padStart(6)}/s  ${(rate / limit).toFixed(2)} x limit  ` +
        `${of((row) => row.statements).toFixed(3)} statements, ${Math.round(of((row) => row.cpuMicros))} us CPU each`,
    );
  }
} finally {
  await server.stop();
}
