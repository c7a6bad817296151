export { describeStore } from './store-suite.js';
export type { CreatedStore } from './store-under-test.js';
export { describeTransport } from './transport-suite.js';
export type { CreatedTransport } from './transport-under-test.js';
export type { Matchers, SuiteFramework } from './suite-framework.js';
