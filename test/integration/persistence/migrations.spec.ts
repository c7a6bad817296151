import { DataSource } from 'typeorm';
import type { EntitySchema } from 'typeorm';
import { createWorkflowEntities } from '../../../lib/persistence/entities/index.js';
import { EnginePool } from '../../../lib/persistence/engine-pool.js';
import {
  checkMigrations,
  createWorkflowMigrations,
  migrationSql,
  pendingMigrations,
  runMigrations,
} from '../../../lib/persistence/migrations/index.js';
import { MIGRATIONS } from '../../../lib/persistence/migrations/migration-list.js';
import { LOCK_MIGRATIONS, migrationBlock } from '../../../lib/persistence/migrations/migration-sql.js';
import { TABLES, tableNames } from '../../../lib/persistence/table-names.js';
import { freshDatabase } from '../../support/database.js';
import type { FreshDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';

const STEPS = [
  '001-initial-tables',
  '002-steps-waits-events',
  '003-owners-subjects-audit',
  '004-outcomes',
  '005-graphs',
  '006-approvals',
  '007-triggers',
];
const PLACES = [
  { schema: undefined, prefix: 'workflow_' },
  { schema: 'flows', prefix: 'workflow_' },
  { schema: 'Odd_Schema', prefix: 'P2_' },
  { schema: undefined, prefix: 'a_prefix_of_thirty_one_letters_' },
];

/** As a host would have them that lets TypeORM own the tables, so that TypeORM compares them. */
function comparable(entities: EntitySchema[]): EntitySchema[] {
  for (const { options } of entities) {
    options.synchronize = true;
    // Read from the table, TypeORM takes this default for its own; see the comment at the entity.
    const id =
      options.name === 'WorkflowAttempt' ? (options.columns['id'] as { generated?: string; default?: unknown }) : {};
    if (id.default) Object.assign(id, { generated: 'uuid', default: undefined });
  }
  return entities;
}

/** Tables, columns and indexes as the server describes them. */
async function describeTables(dataSource: DataSource): Promise<unknown[]> {
  return dataSource.query(`
    SELECT c.oid::regclass::text AS name, c.relkind AS kind, c.reloptions::text AS options, pg_get_indexdef(c.oid) AS index,
      (SELECT json_agg(json_build_array(attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attstattarget)
        ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1`);
}

describe('migrations', () => {
  let database: FreshDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await freshDatabase({ empty: true });
    dataSource = await database.openDataSource();
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('OPS-3: an empty database becomes current, and stays as it is when asked again', async () => {
    const names = tableNames({ schema: 'flows' });
    expect(await pendingMigrations(dataSource, names)).toEqual(STEPS);
    expect(await runMigrations(dataSource, names)).toEqual(STEPS);
    expect(await pendingMigrations(dataSource, names)).toEqual([]);
    const before = await describeTables(dataSource);
    expect(await runMigrations(dataSource, names)).toEqual([]);
    expect(await describeTables(dataSource)).toEqual(before);
    const slots: unknown = await dataSource.query('SELECT count(*)::int AS n FROM flows.workflow_outbox_slots');
    expect(slots).toEqual([{ n: 16 }]);
  });

  it('FAULT G8: twenty processes boot on an empty database at once', async () => {
    const names = tableNames({ schema: 'flows' });
    const other = tableNames({ schema: 'flows', prefix: 'other_' });
    const sources = await Promise.all(Array.from({ length: 20 }, () => database.openDataSource({ poolSize: 1 })));
    const applied = await Promise.all(sources.map((source, i) => runMigrations(source, i % 2 ? names : other)));
    expect(applied.flat()).toEqual([...STEPS, ...STEPS]);
    await Promise.all(sources.map((source) => source.destroy()));
  });

  it('FAULT G8: the script may run in several places at once', async () => {
    const pool = database.openPool({ max: 8 });
    await Promise.all(Array.from({ length: 8 }, () => pool.query(migrationSql(tableNames({ schema: 'flows' })))));
    await pool.end();
    await checkMigrations(dataSource, tableNames({ schema: 'flows' }));
  });

  it('FAULT H10: a host that synchronizes before the migrations does not get in their way', async () => {
    const host = await database.openDataSource({ entities: createWorkflowEntities(), synchronize: true });
    expect(await runMigrations(host, tableNames())).toEqual(STEPS);
    await host.destroy();
  });

  it('OPS-3: migrations run on the pool of the engine too', async () => {
    const pool = await EnginePool.open(dataSource, { entities: createWorkflowEntities() });
    expect(await runMigrations(pool, tableNames())).toEqual(STEPS);
    await checkMigrations(pool, tableNames());
    expect(await pool.dataSource.getRepository('WorkflowRun').find()).toEqual([]);
    await pool.close();
  });

  it('OPS-3: nothing is left of a migration that fails midway', async () => {
    await dataSource.query('CREATE TABLE workflow_outbox_slots (mine int)');
    await expect(runMigrations(dataSource, tableNames())).rejects.toThrow('already exists');
    expect(await dataSource.query("SELECT relname FROM pg_class WHERE relname LIKE 'workflow%'")).toHaveLength(1);
  });

  it('OPS-3: boot is refused when behind, with what is missing and the command', async () => {
    await expect(checkMigrations(dataSource, tableNames({ schema: 'flows' }))).rejects.toMatchObject({
      code: 'MIGRATIONS_BEHIND',
      params: { pending: STEPS, schema: 'flows' },
      message: expect.stringContaining('npx nestjs-workflow-engine migrate') as string,
    });
  });

  it('FAULT K40: a table that somebody dropped is a boot error', async () => {
    await runMigrations(dataSource, tableNames());
    await dataSource.query('DROP TABLE workflow_jobs');
    await expect(checkMigrations(dataSource, tableNames())).rejects.toMatchObject({
      params: { pending: ['table "workflow_jobs"'] },
    });
  });

  it('OPS-3: tables newer than the package are fine', async () => {
    await runMigrations(dataSource, tableNames());
    await dataSource.query("INSERT INTO workflow_schema_versions (version, name) VALUES (999, 'from the future')");
    await checkMigrations(dataSource, tableNames());
    expect(await runMigrations(dataSource, tableNames())).toEqual([]);
  });

  it('OPS-3: a statement limit of the host does not cut a migration off', async () => {
    const hasty = await database.openDataSource({ extra: { statement_timeout: 500 } });
    const other = dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(LOCK_MIGRATIONS);
    const applied = runMigrations(hasty, tableNames());
    const longWaits = `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()
      AND clock_timestamp() - query_start > interval '600 ms'`;
    let waits = true;
    void applied.then(undefined, () => (waits = false));
    await until(async () => !waits || (await dataSource.query<unknown[]>(longWaits)).length > 0);
    await other.commitTransaction();
    await other.release();
    expect(await applied).toEqual(STEPS);
    await hasty.destroy();
  });

  it('OPS-3: tables with rows in them are brought up to date, and an older process goes on writing', async () => {
    const names = tableNames();
    const [first] = MIGRATIONS;
    await dataSource.query(migrationBlock(first!, names));
    const run = `INSERT INTO workflow_runs (id, definition_id, definition_version, definition_key, status, input)
      VALUES (gen_random_uuid(), 'a', 1, 'a@1#x', 'RUNNING', '{}')`;
    await dataSource.query(run);
    expect(await runMigrations(dataSource, names)).toEqual(STEPS.slice(1));
    await dataSource.query(run);
    const rows: unknown = await dataSource.query('SELECT parent_waits, parent_told, cancel_asked FROM workflow_runs');
    const row = { parent_waits: false, parent_told: false, cancel_asked: false };
    expect(rows).toEqual([row, row]);
  });

  it('OPS-3: the script does the same as the migrations, and can be run again', async () => {
    await runMigrations(dataSource, tableNames({ schema: 'flows' }));
    const ours = await describeTables(dataSource);
    const bare = await freshDatabase({ empty: true });
    const pool = bare.openPool();
    const script = migrationSql(tableNames({ schema: 'flows' }));
    await pool.query(script);
    await pool.query(script);
    await pool.end();
    const scripted = await bare.openDataSource();
    expect(await describeTables(scripted)).toEqual(ours);
    await scripted.destroy();
  });

  describe.each(PLACES)('in schema $schema with prefix $prefix', ({ schema, prefix }) => {
    const place = { schema, tablePrefix: prefix };

    it('FAULT H10: entities and tables agree exactly, in the eyes of TypeORM', async () => {
      await runMigrations(dataSource, tableNames({ schema, prefix }));
      const before = await describeTables(dataSource);
      const host = await database.openDataSource({ entities: comparable(createWorkflowEntities(place)) });
      const { upQueries } = await host.driver.createSchemaBuilder().log();
      expect(upQueries.map(({ query }) => query)).toEqual([]);
      await host.synchronize();
      expect(await describeTables(host)).toEqual(before);
      await host.destroy();
    });

    it('FAULT H10: a host that synchronizes, with the entities or without, changes nothing', async () => {
      await runMigrations(dataSource, tableNames({ schema, prefix }));
      const before = await describeTables(dataSource);
      for (const entities of [createWorkflowEntities(place), []]) {
        const host = await database.openDataSource({ entities, synchronize: true });
        expect(await describeTables(host)).toEqual(before);
        await host.destroy();
      }
    });

    it("OPS-3: a host's own migrations run creates the same tables, once", async () => {
      const migrations = createWorkflowMigrations(place);
      const host = await database.openDataSource({ migrations, entities: createWorkflowEntities(place) });
      expect(await host.runMigrations()).toHaveLength(STEPS.length);
      expect(await host.runMigrations()).toHaveLength(0);
      expect(await runMigrations(host, tableNames({ schema, prefix }))).toEqual([]);
      await host.query('DELETE FROM migrations');
      expect(await host.runMigrations()).toHaveLength(STEPS.length);
      for (const { name } of createWorkflowEntities(place).map(({ options }) => options)) {
        expect(await host.getRepository(name).find()).toHaveLength(
          { WorkflowOutboxSlot: 16, WorkflowSchemaVersion: STEPS.length }[name] ?? 0,
        );
      }
      await host.destroy();
    });
  });

  it('OPS-3: a migration is not reverted, since that would drop runs', async () => {
    const host = await database.openDataSource({ migrations: createWorkflowMigrations() });
    await host.runMigrations();
    await expect(host.undoLastMigration()).rejects.toThrow('would drop runs');
    await host.destroy();
  });

  it('OPS-3: names of TypeORM migrations differ by schema and prefix', () => {
    const places = PLACES.map(({ schema, prefix }) => ({ schema, tablePrefix: prefix }));
    const names = places.flatMap((place) => createWorkflowMigrations(place).map((migration) => new migration().name!));
    expect(new Set(names).size).toBe(PLACES.length * STEPS.length);
    for (const name of names) expect(name).toMatch(/[A-Za-z_]\d{13}$/);
  });

  describe('with a role that may not create tables', () => {
    const names = tableNames({ schema: 'flows' });
    let role: string;
    let app: DataSource;

    beforeEach(async () => {
      role = `app_${database.name}`;
      await dataSource.query(`CREATE ROLE "${role}" LOGIN PASSWORD 'secret'`);
      const url = new URL(database.url);
      [url.username, url.password] = [role, 'secret'];
      app = await database.openDataSource({ url: url.href });
    });

    afterEach(async () => {
      await app.destroy();
      await dataSource.query(`DROP OWNED BY "${role}"`);
      await dataSource.query(`DROP ROLE "${role}"`);
    });

    it('OPS-3: the app runs on tables that a privileged role has made and granted', async () => {
      await runMigrations(dataSource, names, { grantTo: role });
      await checkMigrations(app, names);
      expect(await runMigrations(app, names)).toEqual([]);
      const pool = await EnginePool.open(app);
      await checkMigrations(pool, names);
      for (const table of TABLES)
        await pool.query({ name: table, text: `DELETE FROM flows.workflow_${table} WHERE false` });
      const insert = `INSERT INTO ${names.outbox} (run_id, slot, events) VALUES (gen_random_uuid(), 0, '[]')`;
      await pool.query({ name: 'outbox', text: insert });
      await pool.close();
    });

    it('OPS-3: migrating with it is refused by the database, with nothing changed', async () => {
      await expect(runMigrations(app, names)).rejects.toMatchObject({ code: '42501' });
      expect(await pendingMigrations(dataSource, names)).toEqual(STEPS);
    });
  });
});

describe('table names', () => {
  it('OPS-3: names are quoted and stand in the given schema', () => {
    expect(tableNames()).toMatchObject({ runs: '"workflow_runs"', stageRuns: '"workflow_stage_runs"' });
    expect(tableNames({ schema: 'flows', prefix: '' })).toMatchObject({ outboxSlots: '"flows"."outbox_slots"' });
  });

  it('OPS-3: a schema or prefix that is no plain identifier is refused, and all complaints at once', () => {
    for (const odd of ['a b', 'a"b', "a';--", '1a', 'ä', 'x'.repeat(64), 'a.b', 'a-b']) {
      expect(() => tableNames({ schema: odd, prefix: odd })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', problems: [expect.anything(), expect.anything()] }) as Error,
      );
    }
    expect(() => tableNames({ schema: '' })).toThrow();
    expect(() => tableNames({ prefix: 'x'.repeat(32) })).toThrow();
  });
});
