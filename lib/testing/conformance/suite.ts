import type { Matchers } from './suite-framework.js';
import type { StoreUnderTest } from './store-under-test.js';

/** What a part of the suite is written with: `it` hands each test a store of its own. */
export interface StoreSuite {
  it(title: string, body: (on: StoreUnderTest) => Promise<void>): void;
  expect(actual: unknown): Matchers;
}
