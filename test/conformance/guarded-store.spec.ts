import { describeStore } from '../../lib/testing/conformance/index.js';
import { openGuardedStores, type GuardedStores } from './guarded-stores.js';

let stores: GuardedStores;

beforeAll(async () => {
  stores = await openGuardedStores();
});
afterAll(async () => {
  await stores.close();
  await stores.database.dropAll();
});

// OWNER-4: what holds of the store holds under row-level security, the app's role being held by it.
describeStore('PostgresStore under row-level security', () => stores.create());
