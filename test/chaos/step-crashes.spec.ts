import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { BODIES, CRASH_TABLES, JOB_LEASE_MS, LEDGER, RESULT } from './crash-flow.js';

/** Where a run stands when its process dies, and which body runs once more for that, since its end was not recorded. */
const POINTS: readonly (readonly [point: string, again: keyof typeof BODIES | null])[] = [
  ['after claim', null],
  ['before begin order', null],
  ['enter order', null],
  ['inside order', 'order'],
  ['before finish order', 'order'],
  ['after finish order', null],
  ['between order and charge', null],
  ['enter charge', null],
  ['before finish charge', 'charge'],
  ['after finish charge', null],
  ['before suspend pause', null],
  ['after suspend pause', null],
  ['after timer', null],
  ['after claim #2', null],
  ['before ledger', null],
  ['after ledger', null],
  ['between order and charge #2', null],
  ['behind pause', null],
  // The first try of stock would have failed: cut off, it is the one that did.
  ['inside stock', null],
  ['after again stock', null],
  ['inside stock #2', 'stock'],
  ['after finish stock', null],
  ['before suspend approval', null],
  ['after suspend approval', null],
  ['while it waits for approval', null],
  ['behind pause #2', null],
  ['before finish label', 'label'],
  ['after begin mail', null],
  ['before record', null],
  ['after record', null],
];
/** A body of `once` has a lease of five minutes: whoever comes after it must be as late. */
const LATER: Readonly<Record<string, number>> = { 'enter charge': 360_000, 'before finish charge': 360_000 };
const PROCESSES = 3;

interface Crashed {
  readonly point: string;
  readonly database: FreshDatabase;
  readonly runId: string;
}

/** Runs that one process has come to their points with, when it was killed. */
async function die(points: readonly string[]): Promise<Crashed[]> {
  const victim = forkProcess('test/chaos/crash.process.ts');
  await victim.waitFor('ready');
  const crashed = await Promise.all(
    points.map(async (point): Promise<Crashed> => {
      const database = await freshDatabase();
      const pool = database.openPool({ max: 1 });
      for (const table of CRASH_TABLES) await pool.query(table);
      await pool.end();
      victim.send('work', { url: database.url, point, offsetMs: 0 });
      const { runId } = await victim.waitFor<{ runId: string }>(`started ${database.url}`);
      await victim.waitFor(`reached ${database.url}`);
      return { point, database, runId };
    }),
  );
  await victim.kill('SIGKILL');
  return crashed;
}

/** Another process takes the run to its end; what is found then. */
async function goOn({ point, database, runId }: Crashed, survivor: TestProcess) {
  const { url } = database;
  survivor.send('work', { url, runId, offsetMs: LATER[point] ?? JOB_LEASE_MS });
  const { result } = await survivor.waitFor<{ result: unknown }>(`ended ${url}`);
  const pool = database.openPool({ max: 1 });
  const rows = async (text: string): Promise<any[]> => (await pool.query(text)).rows;
  const bodies = await rows('SELECT step, count(*)::int AS times FROM bodies GROUP BY step');
  const [stage] = await rows('SELECT id, attempt FROM workflow_stage_runs');
  const [{ kept }] = await rows(
    `SELECT count(*)::int AS kept FROM workflow_idempotency_keys WHERE scope = 'effect' AND result::text = '"order>charge"'`,
  );
  const found = {
    result,
    ledger: await rows(`SELECT key, status, seq FROM workflow_steps WHERE kind <> 'lease' ORDER BY seq`),
    bodies: Object.fromEntries(bodies.map(({ step, times }) => [step, times])),
    effects: (await rows('SELECT idempotency_key AS key FROM effects')).map(({ key }) => key),
    kept,
    stage,
    broken: await brokenInvariants(pool),
  };
  await pool.end();
  return found;
}

describe('a process that is killed', () => {
  let survivor: TestProcess;
  let crashed: ReadonlyMap<string, Promise<Awaited<ReturnType<typeof goOn>>>>;

  beforeAll(async () => {
    survivor = forkProcess('test/chaos/crash.process.ts');
    await survivor.waitFor('ready');
    const points = POINTS.map(([point]) => point);
    const shares = Array.from({ length: PROCESSES }, (_, at) => points.filter((__, n) => n % PROCESSES === at));
    const dead = await Promise.all(shares.map(die));
    crashed = new Map(dead.flat().map((crash) => [crash.point, goOn(crash, survivor)]));
  }, 240_000);
  afterAll(() => survivor.kill());

  it.each(POINTS)('STEP-1, STEP-8, RUN-8: %s: another goes on where it was', async (point, again) => {
    const { result, ledger, bodies, effects, kept, stage, broken } = await crashed.get(point)!;
    expect(result).toEqual(RESULT);
    // Each step recorded once, in the same order.
    expect(ledger).toEqual(LEDGER.map((name, at) => ({ key: `${name}#1`, status: 'completed', seq: at + 1 })));
    expect(bodies).toEqual(again ? { ...BODIES, [again]: BODIES[again] + 1 } : BODIES);
    expect(effects.sort()).toEqual(
      Object.keys(BODIES)
        .map((name) => `${stage.id}:${name}#1`)
        .sort(),
    );
    expect(kept).toBe(1);
    expect(stage.attempt).toBe(1);
    expect(broken).toEqual({});
  });
});
