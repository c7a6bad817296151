/** From `start` to its result on an idle system, one run at a time: `npm run bench:latency`. */
import { bootApp, OneStage, ThreeStages } from './support/app.js';
import { latencyFloor } from './support/latency-floor.js';
import { openBenchServer, options, percentile } from './support/server.js';
import { countStatements } from './support/statement-counts.js';

const { samples } = options({ samples: 300 });
const { server, freshUrl } = await openBenchServer();
try {
  const floor = await latencyFloor(await freshUrl(), samples);
  const floorP50 = percentile(floor, 0.5);
  console.log(`three plain commits: p50 ${floorP50.toFixed(2)} ms, p99 ${percentile(floor, 0.99).toFixed(2)} ms`);
  const { app, workflows } = await bootApp(await freshUrl(), { worker: { concurrency: 20 } });
  for (const [name, workflow, stages] of [
    ['1 stage', OneStage, 1],
    ['3 stages', ThreeStages, 3],
  ] as const) {
    for (let warm = 0; warm < 50; warm += 1) await workflows.startAndWait(workflow, { n: 0 });
    const statements = countStatements();
    const sent = statements.read();
    const times: number[] = [];
    for (let sample = 0; sample < samples; sample += 1) {
      const begun = performance.now();
      await workflows.startAndWait(workflow, { n: sample });
      times.push(performance.now() - begun);
    }
    const per = (statements.read() - sent) / samples;
    statements.stop();
    console.log(
      `${name}: start to result p50 ${percentile(times, 0.5).toFixed(2)} ms (${(percentile(times, 0.5) / floorP50).toFixed(2)} x the floor), p99 ${percentile(times, 0.99).toFixed(2)} ms; ${per.toFixed(2)} statements a run of ${stages}`,
    );
  }
  await app.close();
} finally {
  await server.stop();
}
