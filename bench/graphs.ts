/** Drains a backlog of three stages in a row, as a class and as a published graph, in alternation: `npm run bench:graphs`. */
import { DefinitionsService, graph } from '../lib/index.js';
import { ThreeStages } from './support/app.js';
import { drain, inputs, type Drain } from './support/drain.js';
import { median, openBenchServer, options } from './support/server.js';

const { runs, rounds } = options({ runs: 2000, rounds: 3 });
const CONCURRENCIES = [10, 200];

const PLAIN = graph('plain', 'Three stages')
  .stage('first', 'first')
  .stage('second', 'second', { input: { n: 'output("first").n' } })
  .stage('third', 'third', { input: { n: 'output("second").n' } })
  .end('end', { output: 'output("third")' })
  .build();
/** A graph as people draw them: a condition before each stage. */
const ASKING = graph('asking', 'Three stages, three conditions')
  .condition('small', 'input.n >= 0', { true: 'first', false: 'end' })
  .stage('first', 'first')
  .condition('grown', 'output("first").n > 0', { true: 'second', false: 'end' })
  .stage('second', 'second', { input: { n: 'output("first").n' } })
  .condition('still', 'output("second").n > 0', { true: 'third', false: 'end' })
  .stage('third', 'third', { input: { n: 'output("second").n' } })
  .end('end')
  .build();

const { server, freshUrl } = await openBenchServer();
try {
  const results = new Map<string, Drain[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const concurrency of CONCURRENCIES) {
      for (const [name, definition] of [
        ['code', null],
        ['graph', PLAIN],
        ['graph with conditions', ASKING],
      ] as const) {
        const drained = await drain({
          ...{ url: await freshUrl(), count: runs, stages: 3, concurrency },
          start: async ({ app, workflows }) => {
            if (definition === null) return workflows.startMany(ThreeStages, inputs(runs));
            await app.get(DefinitionsService).publish(definition);
            return workflows.startMany(definition.id, inputs(runs));
          },
        });
        const key = `${name}, concurrency ${concurrency}`;
        results.set(key, [...(results.get(key) ?? []), drained]);
      }
    }
  }
  console.log(`node ${process.version}, ${runs} runs of 3 stages, ${rounds} rounds, medians`);
  for (const [name, rows] of results) {
    const of = (pick: (row: Drain) => number) => median(rows.map(pick));
    const code = results.get(`code, ${name.split(', ')[1]}`)!;
    const steps = of((row) => row.stepsPerSecond);
    const ratio = median(code.map((row) => row.stepsPerSecond)) / steps;
    console.log(
      `${name.padEnd(40)} ${Math.round(steps).toString().padStart(6)} steps/s, ${ratio.toFixed(2)} x the cost in code; ` +
        `${of((row) => row.statementsPerStep).toFixed(3)} statements, ${of((row) => row.commitsPerStep).toFixed(3)} commits, ` +
        `${Math.round(of((row) => row.cpuMicrosPerStep))} us CPU a step, ${Math.round(of((row) => row.walPerRun))} bytes WAL a run`,
    );
  }
} finally {
  await server.stop();
}
