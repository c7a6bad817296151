/** What a suite needs of a test framework: Jest's globals, Vitest's, or anything with these names. */
export interface SuiteFramework {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  beforeEach(body: () => Promise<void>): void;
  afterEach(body: () => Promise<void>): void;
  expect(actual: unknown): Matchers;
}

/** The part of Jest's matchers that the suites use. */
export interface Matchers {
  readonly not: Matchers;
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toHaveLength(expected: number): void;
  toContain(expected: unknown): void;
  toBeNull(): void;
  toBeUndefined(): void;
  toBeGreaterThan(expected: number): void;
  toBeLessThanOrEqual(expected: number): void;
}

/** The framework of the file that runs: where its names are global. */
export function globalFramework(): SuiteFramework {
  return globalThis as unknown as SuiteFramework;
}
