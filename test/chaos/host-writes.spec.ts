import { Test } from '@nestjs/testing';
import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { untilAlone } from '../support/until.js';
import { told } from '../e2e/faults/scenes.js';
import { hostWritesModule, Listening, WRITES_TABLE } from './host-writes-flow.js';

const KILLS = 7;
/** Of each kind in one process, which most likely dies before the last of them. */
const COUNT = 100;
/** And at least so many, so that there are 500 of them and more, with those of ctx.transaction. */
const FEWEST = 20;
const AHEAD = 2;

/** Rows of the host's without what the engine wrote with them, and the other way round: of another transaction, too. */
const APART: Readonly<Record<string, string>> = {
  record: `
    SELECT w.run, s.run_id FROM (SELECT *, xmin AS made FROM writes WHERE kind = 'record') w
      FULL JOIN (SELECT *, xmin AS made FROM workflow_stage_runs WHERE key = 'record' AND status = 'COMPLETED') s ON s.run_id::text = w.run
     WHERE w.run IS NULL OR s.run_id IS NULL OR s.made <> w.made`,
  'ends of runs': `
    SELECT r.id FROM workflow_runs r WHERE r.definition_id = 'recording'
       AND (r.status = 'COMPLETED') <> EXISTS (SELECT 1 FROM writes w WHERE w.kind = 'record' AND w.run = r.id::text)`,
  start: `
    SELECT w.run, r.id FROM (SELECT * FROM writes WHERE kind = 'start') w
      FULL JOIN (SELECT * FROM workflow_runs WHERE definition_id = 'recording') r ON r.id::text = w.run
     WHERE w.run IS NULL OR r.id IS NULL`,
  signal: `
    SELECT w.nr, e.id FROM (SELECT *, xmin AS made FROM writes WHERE kind = 'signal') w
      FULL JOIN (SELECT *, xmin AS made FROM workflow_events WHERE run_id IS NOT NULL) e ON e.key = 'nr ' || w.nr
     WHERE w.nr IS NULL OR e.id IS NULL OR e.made <> w.made`,
  'the audit of signals': `
    SELECT w.nr, a.id FROM (SELECT *, xmin AS made FROM writes WHERE kind = 'signal') w
      FULL JOIN (SELECT *, xmin AS made FROM workflow_audit WHERE action = 'signal') a ON a.details->>'name' = 'nr ' || w.nr
     WHERE w.nr IS NULL OR a.id IS NULL OR a.made <> w.made`,
};

describe('transactions of the host in a process that is killed', () => {
  it("TX-3, RUN-1, AUDIT-1: the host's rows and the engine's are there together, or neither is", async () => {
    const database = await freshDatabase();
    const pool = database.openPool({ max: 1 });
    await pool.query(WRITES_TABLE);
    const listener = await listening(database.url);
    const file = 'test/chaos/host-writes.process.ts';
    const ready: TestProcess[] = Array.from({ length: AHEAD }, () => forkProcess(file));
    const apart = async (): Promise<object> => {
      const found: Record<string, unknown[]> = {};
      for (const [what, query] of Object.entries(APART)) {
        const { rows } = await pool.query(query);
        if (rows.length > 0) found[what] = rows;
      }
      return found;
    };
    for (let kill = 0; kill < KILLS; kill++) {
      ready.push(forkProcess(file));
      const victim = ready.shift()!;
      await victim.waitFor('ready');
      victim.send('work', { url: database.url, listener, from: kill * COUNT, count: COUNT });
      const points = FEWEST + Math.floor(Math.random() * (COUNT - 50));
      for (let point = 0; point < points; point++) await victim.waitFor('point');
      await victim.kill('SIGKILL');
      // Nothing is judged before its server processes are gone.
      await untilAlone(pool);
      expect(await apart()).toEqual({});
    }
    const survivor = ready.shift()!;
    await survivor.waitFor('ready');
    survivor.send('finish', { url: database.url });
    await survivor.waitFor('finished');
    expect(await apart()).toEqual({});
    const { rows } = await pool.query(`SELECT kind, count(*)::int AS n FROM writes GROUP BY kind ORDER BY kind`);
    const [record, signal, start] = rows as { kind: string; n: number }[];
    // Every run that was committed has recorded, once.
    expect(record).toEqual({ kind: 'record', n: start!.n });
    for (const { n } of [start!, signal!]) {
      expect(n).toBeGreaterThanOrEqual(KILLS * FEWEST);
      // They died while there was something to do.
      expect(n).toBeLessThan(KILLS * COUNT);
    }
    expect(await brokenInvariants(pool)).toEqual({});
    await pool.end();
    await Promise.all([survivor, ...ready].map((process) => process.kill()));
  }, 240_000);
});

/** A run that keeps signals, and goes on with none of them. */
async function listening(url: string): Promise<string> {
  const app = await Test.createTestingModule({ imports: [hostWritesModule(url)] }).compile();
  await app.init();
  const workflows = app.get(WorkflowService);
  const waits = told(app, 'stage:suspended');
  const { run } = await workflows.start(Listening, null);
  await waits;
  await app.close();
  return run.id;
}
