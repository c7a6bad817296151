import './register-typescript.mjs';

export default async function globalTeardown() {
  const server = globalThis[Symbol.for('workflow-tests:server')];
  if (server === undefined) return;
  const { dropDatabase } = await import('../../lib/testing/postgres/test-database.ts');
  // A server of the developer's own outlives the run; it keeps nothing of ours.
  if (server.kind === 'external') await dropDatabase(server.url(), process.env.WF_TEST_TEMPLATE);
  await server.stop();
}
