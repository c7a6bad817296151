import type { DataSource } from 'typeorm';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { freshDatabase } from '../../support/database.js';
import { describeSteps } from '../../unit/runtime/support/steps-suite.js';

let host: DataSource;
beforeAll(async () => {
  host = await (await freshDatabase()).openDataSource();
});
afterAll(() => host.destroy());

describeSteps(async () => ({ store: await createPostgresStore(host) }));
