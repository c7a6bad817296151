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

// A transport for tests
export { InProcessBroker, InProcessTransport } from './transport/index.js';

// The contracts of store and transport, for adapters
export { describeStore, describeTransport } from './conformance/index.js';
export type { CreatedStore, CreatedTransport, Matchers, SuiteFramework } from './conformance/index.js';
