export { EmbeddedPostgresFailedError, EmbeddedPostgresMissingError } from './embedded-postgres.errors.js';
export { startEmbeddedPostgres } from './embedded-postgres.js';
export type { EmbeddedPostgres, EmbeddedPostgresOptions, ShutdownMode } from './embedded-postgres.js';
export { createDatabase, dropDatabase } from './test-database.js';
export { openTestServer } from './test-server.js';
export type { TestServer, TestServerOptions } from './test-server.js';
