import { checkMigrations } from '../../../lib/persistence/migrations/index.js';
import { tableNames } from '../../../lib/persistence/table-names.js';
import { freshDatabase } from '../../support/database.js';

it('OPS-3: every test database starts with current tables', async () => {
  const dataSource = await (await freshDatabase()).openDataSource();
  await checkMigrations(dataSource, tableNames());
  await dataSource.destroy();
});
