import { describeStore, type SuiteFramework } from '../../lib/testing/conformance/index.js';
import { PASSWORD } from '../integration/row-level-security/guarded-database.js';
import { findPgbouncer, startPooler, type Pooler } from '../support/pgbouncer.js';
import { openGuardedStores, type GuardedStores } from './guarded-stores.js';

/** Those that hold several transactions, or several processes, against each other. */
const PARTS = ['escalations', 'joined records', 'graph rows', 'approval rounds', 'approval decisions', 'approval ends'];
const NAME = 'PostgresStore under row-level security, through PgBouncer in transaction mode';
const program = findPgbouncer();
const framework = globalThis as unknown as SuiteFramework;

// JOB-4, OWNER-4: what holds of the store holds where each of its transactions has another connection.
(program === undefined ? describe.skip : describe)(NAME, () => {
  let stores: GuardedStores;
  let pooler: Pooler;

  beforeAll(async () => {
    stores = await openGuardedStores({
      urlOf: async (database) => {
        pooler = await startPooler(program!, { users: { [database.app]: PASSWORD }, poolSize: 5 });
        return pooler.through(database.urlOf(database.app));
      },
      pool: { warn: () => undefined },
    });
  });
  afterAll(async () => {
    await stores.close();
    await pooler.stop();
    await stores.database.dropAll();
  });

  describeStore('its contract', () => stores.create(), {
    ...framework,
    describe: (name, body) => {
      if (name === 'its contract' || PARTS.includes(name)) framework.describe(name, body);
    },
  });

  it('JOB-4: all of that came through the pooler', () => {
    expect(pooler.log).toContain(stores.database.app);
    expect(pooler.log).not.toMatch(/prepared statement/i);
  });
});
