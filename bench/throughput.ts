/** Drains a backlog of three-stage runs, and a group of ten with its join, beside the per-row limit in the same rounds: `npm run bench:throughput`. */
import pg from 'pg';
import { bootApp, OneStage, TenAndJoin, ThreeStages } from './support/app.js';
import { perRowLimit } from './support/per-row-limit.js';
import { median, openBenchServer, options } from './support/server.js';
import { countStatements, readCounts } from './support/statement-counts.js';
import type { WorkflowClass } from '../lib/index.js';

const { runs, rounds, groups } = options({ runs: 2000, rounds: 3, groups: 300 });
const CONCURRENCIES = [10, 50, 200];

interface Drain {
  readonly stepsPerSecond: number;
  readonly runsPerSecond: number;
  readonly statementsPerStep: number;
  readonly commitsPerStep: number;
  readonly walPerRun: number;
  readonly cpuMicrosPerStep: number;
}

async function drain(
  url: string,
  workflow: WorkflowClass,
  count: number,
  stages: number,
  concurrency: number,
): Promise<Drain> {
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

const { server, freshUrl } = await openBenchServer();
try {
  const limits: number[] = [];
  const results = new Map<string, Drain[]>();
  const keep = (name: string, result: Drain) => results.set(name, [...(results.get(name) ?? []), result]);
  for (let round = 0; round < rounds; round += 1) {
    limits.push((await perRowLimit(await freshUrl(), runs)).stepsPerSecond);
    for (const concurrency of CONCURRENCIES)
      keep(`3 stages, concurrency ${concurrency}`, await drain(await freshUrl(), ThreeStages, runs, 3, concurrency));
    keep('1 stage, concurrency 200', await drain(await freshUrl(), OneStage, runs, 1, 200));
    keep('10 parallel + join, concurrency 200', await drain(await freshUrl(), TenAndJoin, groups, 11, 200));
  }
  const limit = median(limits);
  console.log(
    `node ${process.version}, ${runs} runs, ${rounds} rounds, medians; per-row limit ${Math.round(limit)} steps/s`,
  );
  for (const [name, rows] of results) {
    const of = (pick: (row: Drain) => number) => median(rows.map(pick));
    const steps = of((row) => row.stepsPerSecond);
    console.log(
      `${name.padEnd(36)} ${Math.round(steps).toString().padStart(6)} steps/s ${Math.round(
        of((row) => row.runsPerSecond),
      )
        .toString()
        .padStart(6)} runs/s  ${(steps / limit).toFixed(2)} x limit  ` +
        `${of((row) => row.statementsPerStep).toFixed(3)} statements, ${of((row) => row.commitsPerStep).toFixed(3)} commits, ${Math.round(of((row) => row.cpuMicrosPerStep))} us CPU a step, ${Math.round(of((row) => row.walPerRun))} bytes WAL a run`,
    );
  }
} finally {
  await server.stop();
}
