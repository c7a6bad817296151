import type { TestingModule } from '@nestjs/testing';
import { WorkflowService, WorkflowSubject } from 'nestjs-workflow-engine';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { guardedApp } from './guarded-app.js';
import { guardedDatabase, type GuardedDatabase } from './guarded-database.js';
import { Child } from './life.js';

@Entity({ name: 'things' })
@WorkflowSubject({ type: 'thing', owner: 'teamId' })
class Thing {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'team_id' }) teamId!: string;
}

const OWNERS = ['acme', 'other'];

describe('subjects that are looked at inside a transaction of the host', () => {
  let database: GuardedDatabase;
  let app: TestingModule;

  beforeAll(async () => {
    database = await guardedDatabase();
    const admin = database.openPool({ max: 1 });
    await admin.query(`CREATE TABLE things (id text PRIMARY KEY, team_id text NOT NULL)`);
    await admin.query(`INSERT INTO things VALUES ('of acme', 'acme'), ('of other', 'other')`);
    await admin.query(`GRANT SELECT ON things TO "${database.app}"`);
    await admin.query(`ALTER TABLE things ENABLE ROW LEVEL SECURITY`);
    await admin.query(`CREATE POLICY own ON things USING (team_id = current_setting('app.owner_id', true))`);
    await admin.end();
    const dataSourceOptions = { ...database.dataSourceOptions, entities: [Thing] };
    app = await guardedApp({ ...database, dataSourceOptions }, 'switching', { worker: false });
  });
  afterAll(async () => {
    await app.close();
    await database.dropAll();
  });

  it('OWNER-4: starts about subjects of two owners at once keep apart, and leave the transaction as it was', async () => {
    const workflows = app.get(WorkflowService);
    const seen = await app.get(DataSource).transaction(async (manager) => {
      const starts = OWNERS.flatMap((owner) =>
        [1, 2].map((nr) =>
          workflows.start(Child, { name: `${nr}` }, { owner, manager, subject: { type: 'thing', id: `of ${owner}` } }),
        ),
      );
      for (const { created } of await Promise.all(starts)) expect(created).toBe(true);
      expect(await manager.query(`SELECT current_setting('app.owner_id', true) AS owner`)).toEqual([{ owner: '' }]);
      const seenOf = async (owner: string): Promise<unknown> => {
        await manager.query(`SELECT set_config('app.owner_id', $1, true)`, [owner]);
        return manager.query('SELECT owner_id, subject_seen FROM workflow_runs');
      };
      return [await seenOf('acme'), await seenOf('other')];
    });
    expect(seen).toEqual(OWNERS.map((owner) => [1, 2].map(() => ({ owner_id: owner, subject_seen: true }))));
  });
});
