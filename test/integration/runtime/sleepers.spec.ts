import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { createPostgresStore, tableNames } from '../../../lib/persistence/index.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { forkProcess } from '../../support/processes.js';
import { workflow } from '../../unit/runtime/support/pipeline.js';
import { TestEngine } from '../../unit/runtime/support/test-engine.js';

const t = tableNames();
const FEW = 1_000;
const MANY = 100_000;
const DUE = 100;
/** At least so many, and up to the most of them until both have met a quiet moment of the machine. */
const PASSES = 15;
const MOST_PASSES = 90;
const MOST_TIMES = 1.5;
/** The first ones warm caches and plans. */
const WARM = 3;
const AN_HOUR_AGO = `now() - interval '1 hour'`;

const flow = workflow('flow', [{ key: 'a', execute: ({ step }: StageContext) => step.sleep('nap', '30 days') }]);

interface Pass {
  readonly ms: number;
  readonly statements: number;
}

/** A database in which so many stages sleep, each row a copy of what the engine wrote of one. */
class Sleepers {
  private copies = 0;

  private constructor(
    readonly engine: TestEngine,
    private readonly host: DataSource,
    private readonly database: FreshDatabase,
  ) {}

  static async asleep(count: number): Promise<Sleepers> {
    const database = await freshDatabase();
    const host = await database.openDataSource();
    for (const table of [t.runs, t.stageRuns, t.steps, t.jobs])
      await host.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
    const sleepers = new Sleepers(new TestEngine([flow], { store: await createPostgresStore(host) }), host, database);
    await sleepers.engine.start(flow);
    await sleepers.engine.drain();
    // All of them are old: a pass looks at a slice of the old ones, whether one is stuck.
    for (const table of ['runs', 'stage_runs'])
      await host.query(`UPDATE workflow_${table} SET created_at = ${AN_HOUR_AGO}, started_at = ${AN_HOUR_AGO}`);
    for (const table of ['runs', 'stage_runs', 'steps'])
      await host.query(`CREATE TABLE one_${table} AS SELECT * FROM workflow_${table}`);
    await sleepers.add(count - 1, 'due_at');
    await host.query(`ANALYZE`);
    return sleepers;
  }

  /** More of them. `due`: SQL of their instant. */
  async add(count: number, due: string): Promise<void> {
    const each = `generate_series(${this.copies + 1}, ${this.copies + count}) n`;
    // In the order of time, as the engine makes ids.
    const idOf = (first: string): string => `('${first}0000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
    const [run, stage] = [idOf('1'), idOf('2')];
    const copy = (table: string, changes: string): Promise<unknown> =>
      this.host.query(`INSERT INTO workflow_${table} SELECT copy.* FROM one_${table} one, ${each},
        LATERAL json_populate_record(one, json_build_object(${changes})) copy`);
    await copy('runs', `'id', ${run}`);
    await copy('stage_runs', `'id', ${stage}, 'run_id', ${run}`);
    await copy('steps', `'stage_run_id', ${stage}, 'run_id', ${run}, 'due_at', ${due}`);
    this.copies += count;
  }

  /** One wake pass in which some of them are due; then they run to their ends. */
  async pass(): Promise<Pass> {
    await this.add(DUE, `now() - n * interval '1 ms'`);
    const sent = jest.spyOn(Client.prototype, 'query');
    const begun = performance.now();
    const report = await this.engine.runtime.pass.wake();
    const ms = performance.now() - begun;
    const statements = sent.mock.calls.length;
    sent.mockRestore();
    // oxlint-disable jest/no-standalone-expect -- called by the test
    expect(report).toMatchObject({ timers: DUE, errors: [] });
    expect(await this.engine.drain()).toBe(DUE);
    // oxlint-enable jest/no-standalone-expect
    await this.engine.runtime.relay.flush();
    return { ms, statements };
  }

  async broken(): Promise<Record<string, unknown[]>> {
    const pool = this.database.openPool({ max: 1 });
    const broken = await brokenInvariants(pool);
    await pool.end();
    return broken;
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.host.destroy();
  }
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;

it('WAKE-6: a pass that wakes 100 stages costs the same beside 100,000 sleeping ones as beside 1,000', async () => {
  const [few, many] = [await Sleepers.asleep(FEW), await Sleepers.asleep(MANY)];
  const passes: { few: Pass[]; many: Pass[] } = { few: [], many: [] };
  const cost = (of: readonly Pass[]): Pass => ({
    // The fastest is the one that nothing else held up.
    ms: Math.min(...of.map(({ ms }) => ms)),
    statements: median(of.map(({ statements }) => statements)),
  });
  let [low, high] = [cost([]), cost([])];
  for (let pass = -WARM; pass < PASSES || (pass < MOST_PASSES && high.ms / low.ms > MOST_TIMES); pass++) {
    // One after the other, so that whatever else the machine does hits both.
    const [a, b] = [await few.pass(), await many.pass()];
    if (pass < 0) continue;
    passes.few.push(a);
    passes.many.push(b);
    [low, high] = [cost(passes.few), cost(passes.many)];
  }
  console.info(
    `a wake pass with ${DUE} due: ${low.ms.toFixed(1)} ms and ${low.statements} statements beside ${FEW}, ` +
      `${high.ms.toFixed(1)} ms and ${high.statements} beside ${MANY}: ${(high.ms / low.ms).toFixed(2)} times`,
  );
  expect(high.statements).toBe(low.statements);
  expect(high.ms / low.ms).toBeLessThanOrEqual(MOST_TIMES);
  await few.close();
  await many.close();
}, 180_000);

it('the copies are what the engine writes: nothing is broken among them', async () => {
  const sleepers = await Sleepers.asleep(50);
  expect(await sleepers.engine.store.countRuns({ all: true })).toEqual({ RUNNING: 50 });
  expect(await sleepers.broken()).toEqual({});
  await sleepers.close();
});

it('STEP-3: a process in whose hands 10,000 stages fell asleep holds no more memory than with 500', async () => {
  const { url } = await freshDatabase();
  const worker = forkProcess('test/integration/runtime/sleepers.process.ts', { env: { DATABASE_URL: url } });
  await worker.waitFor('ready');
  const heaps: number[] = [];
  for (const runs of [500, 9_500]) {
    worker.send('start', { runs });
    heaps.push((await worker.waitFor<{ heap: number }>('asleep')).heap);
  }
  const [few, many] = heaps as [number, number];
  console.info(`heap with 500 asleep ${mb(few)} MB, with 10,000 ${mb(many)} MB: ${(many / few).toFixed(2)} times`);
  expect(many / few).toBeLessThanOrEqual(1.3);
  await worker.kill();
}, 300_000);

const mb = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
