import type { DataSource } from 'typeorm';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { freshDatabase } from '../../support/database.js';
import { describeWaitsBeside } from '../../unit/runtime/support/waits-beside-suite.js';

let host: DataSource;
beforeAll(async () => {
  host = await (await freshDatabase()).openDataSource();
});
afterAll(() => host.destroy());

describeWaitsBeside(async () => ({ store: await createPostgresStore(host) }));
