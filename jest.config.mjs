/**
 * One Jest setup for every suite. Dependencies that are ES modules (Nest 12, uuid, eld) are transformed too; the large ones that are
 * not stay as they are, which loads them faster.
 */
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  transform: {
    '^.+\\.[mc]?[jt]s$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [
    '/node_modules/(typeorm|pg|pg-[a-z-]+|rxjs|zod|reflect-metadata|nestjs-cls|tslib|express|typescript)/',
  ],
  moduleNameMapper: {
    '^nestjs-workflow-engine$': '<rootDir>/lib/index.ts',
    '^nestjs-workflow-engine/testing$': '<rootDir>/lib/testing/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  reporters: ['default', '<rootDir>/test/support/count-reporter.mjs'],
  // Ends what hangs; no test is told by it that something is too slow, on whatever machine.
  testTimeout: 120_000,
  maxWorkers: 2,
};
