/** Drains a backlog of three-stage runs, and a group of ten with its join, beside the per-row limit in the same rounds: `npm run bench:throughput`. */
import { OneStage, TenAndJoin, ThreeStages } from './support/app.js';
import { drain, inputs, type Drain } from './support/drain.js';
import { perRowLimit } from './support/per-row-limit.js';
import { median, openBenchServer, options } from './support/server.js';
import type { WorkflowClass } from '../lib/index.js';

const { runs, rounds, groups } = options({ runs: 2000, rounds: 3, groups: 300 });
const CONCURRENCIES = [10, 50, 200];

const { server, freshUrl } = await openBenchServer();
try {
  const limits: number[] = [];
  const results = new Map<string, Drain[]>();
  const backlog = async (workflow: WorkflowClass, count: number, stages: number, concurrency: number) =>
    drain({
      ...{ url: await freshUrl(), count, stages, concurrency },
      start: ({ workflows }) => workflows.startMany(workflow as never, inputs(count) as never),
    });
  const keep = (name: string, result: Drain) => results.set(name, [...(results.get(name) ?? []), result]);
  for (let round = 0; round < rounds; round += 1) {
    limits.push((await perRowLimit(await freshUrl(), runs)).stepsPerSecond);
    for (const concurrency of CONCURRENCIES)
      keep(`3 stages, concurrency ${concurrency}`, await backlog(ThreeStages, runs, 3, concurrency));
    keep('1 stage, concurrency 200', await backlog(OneStage, runs, 1, 200));
    keep('10 parallel + join, concurrency 200', await backlog(TenAndJoin, groups, 11, 200));
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
