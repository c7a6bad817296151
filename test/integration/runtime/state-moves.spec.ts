import type { DataSource } from 'typeorm';
import { RUN_TRANSITIONS, STAGE_RUN_TRANSITIONS } from '../../../lib/engine/state/transition-tables.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { freshDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';
import { workflow } from '../../unit/runtime/support/pipeline.js';
import { TestEngine } from '../../unit/runtime/support/test-engine.js';

/** Writes down each status that a row goes over to, whichever statement it was. */
const NOTED = [
  'CREATE TABLE moves (kind text, move text)',
  `CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     IF OLD.status <> NEW.status THEN INSERT INTO moves VALUES (TG_ARGV[0], OLD.status || ' -> ' || NEW.status); END IF;
     RETURN NULL; END $$`,
  `CREATE TRIGGER noted AFTER UPDATE ON workflow_runs FOR EACH ROW EXECUTE FUNCTION note_move('run')`,
  `CREATE TRIGGER noted AFTER UPDATE ON workflow_stage_runs FOR EACH ROW EXECUTE FUNCTION note_move('stage run')`,
];

const arrowsOf = (table: Record<string, { readonly from: readonly string[]; readonly to: string }>): string[] => [
  ...new Set(Object.values(table).flatMap(({ from, to }) => from.map((status) => `${status} -> ${to}`))),
];

describe('rows of runs and stage runs', () => {
  let host: DataSource;
  let engine: TestEngine;

  const isAsleep = async (): Promise<boolean> =>
    (await host.query(`SELECT 1 FROM workflow_stage_runs WHERE status = 'SUSPENDED'`)).length > 0;
  const moves = async (kind: string): Promise<string[]> =>
    (await host.query('SELECT DISTINCT move FROM moves WHERE kind = $1', [kind])).map(({ move }: any) => move);

  const sleeps = { key: 'sleeps', execute: ({ step }: StageContext) => step.sleep('nap', '1h') };
  const fails = {
    key: 'fails',
    execute: async ({ attempt }: StageContext) => {
      await until(isAsleep);
      if (attempt <= 3) throw new Error('not yet');
      return null;
    },
  };
  const skips = { key: 'skips', execute: (ctx: StageContext) => ctx.skip('nothing to do') };
  const isCancelled = {
    key: 'is-cancelled',
    execute: async ({ run }: StageContext) => {
      await engine.cancel(run.id);
      return null;
    },
  };
  const mixed = workflow('mixed', [[fails, sleeps], skips]);
  const cancelled = workflow('cancelled', [isCancelled]);

  beforeAll(async () => {
    host = await (await freshDatabase()).openDataSource();
    for (const text of NOTED) await host.query(text);
    engine = new TestEngine([mixed, cancelled], { store: await createPostgresStore(host) });
  });
  afterAll(async () => {
    await engine.close();
    await host.destroy();
  });

  it('RUN-2: they move by the arrows of the charts, and by each of them', async () => {
    const runId = await engine.start(mixed, null, { delayMs: 1_000 });
    await engine.travel(2_000);
    expect(await engine.statuses(runId)).toMatchObject({ run: 'FAILED', fails: 'FAILED', sleeps: 'CANCELLED' });
    await engine.retry(runId);
    await engine.drain();
    await engine.travel(3_600_000);
    expect(await engine.statuses(runId)).toMatchObject({ run: 'COMPLETED', sleeps: 'COMPLETED', skips: 'SKIPPED' });

    const running = await engine.start(cancelled);
    await engine.drain();
    const waiting = await engine.start(cancelled);
    await engine.cancel(waiting);
    expect(await Promise.all([running, waiting].map((id) => engine.statuses(id)))).toEqual(
      Array.from({ length: 2 }, () => ({ run: 'CANCELLED', 'is-cancelled': 'CANCELLED' })),
    );

    expect((await moves('stage run')).sort()).toEqual(arrowsOf(STAGE_RUN_TRANSITIONS).sort());
    expect(arrowsOf(RUN_TRANSITIONS)).toEqual(expect.arrayContaining(await moves('run')));
  });
});
