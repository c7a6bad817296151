/**
 * One PostgreSQL server a test run, with a template that every test database is a copy of.
 *
 * Tests learn about it by two variables: WF_TEST_SERVER_URL and WF_TEST_TEMPLATE.
 */
import './register-typescript.mjs';

export default async function globalSetup() {
  // Loaded here rather than at the top: the hooks must be in place first.
  const { openTestServer } = await import('../../lib/testing/postgres/test-server.ts');
  const { createDatabase } = await import('../../lib/testing/postgres/test-database.ts');
  const { prepareTemplate } = await import('./template.ts');
  // Nothing here outlives the machine's power; killed processes and a killed server lose nothing by it.
  const server = await openTestServer({ settings: { max_connections: 300, fsync: 'off' } });
  globalThis[Symbol.for('workflow-tests:server')] = server;
  const template = `test_template_${process.pid}_${Date.now().toString(36)}`;
  try {
    await prepareTemplate(await createDatabase(server.url(), template));
  } catch (error) {
    await server.stop();
    throw error;
  }
  process.env.WF_TEST_SERVER_URL = server.url();
  process.env.WF_TEST_TEMPLATE = template;
}
