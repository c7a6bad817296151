export { WorkflowTester } from './workflow-tester.js';
export type { DrainReport, WorkflowTesterOptions } from './workflow-tester.js';

// PostgreSQL for tests and samples
export {
  createDatabase,
  dropDatabase,
  EmbeddedPostgresFailedError,
  EmbeddedPostgresMissingError,
  openTestServer,
  startEmbeddedPostgres,
} from './postgres/index.js';
export type {
  EmbeddedPostgres,
  EmbeddedPostgresOptions,
  ShutdownMode,
  TestServer,
  TestServerOptions,
} from './postgres/index.js';

// The in-memory store
export { MemoryClock, MemoryDatabase, MemoryStore } from './memory/index.js';
export type { MemoryStoreOptions, StoreClock } from './memory/index.js';

// The store's contract, for adapters
export { describeStore } from './conformance/index.js';
export type { CreatedStore, Matchers, SuiteFramework } from './conformance/index.js';
