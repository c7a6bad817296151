/**
 * The arrows of the architecture as data: what each room of `lib/` may import. What is not written here is refused.
 *
 * A room is named by where its paths begin; the longest name wins, so `testing/memory` is not `testing`. Inside a room
 * everything may import everything.
 */

/** What may be taken from another room or library. */
export interface Arrow {
  /** `types` are erased by the compiler: no code of the other side is loaded. */
  readonly kind: 'values' | 'types';
  /** These names only. */
  readonly names?: readonly string[];
  /** Loaded by `import()` where it is needed, so that the package works without it. */
  readonly lazy?: boolean;
  /** Why it is allowed all the same. Such an arrow is an exception, and goes when nobody needs it any more. */
  readonly reason?: string;
}

export type Room = Readonly<Record<string, Arrow>>;

const values: Arrow = { kind: 'values' };
const types: Arrow = { kind: 'types' };
const only = (names: readonly string[], reason: string): Arrow => ({ kind: 'values', names, reason });
const lazily = (reason: string): Arrow => ({ kind: 'values', lazy: true, reason });

const DIGEST = only(['createHash'], 'a digest is a plain function of its input');

export const ROOMS: Readonly<Record<string, Room>> = {
  errors: {},
  engine: {
    errors: values,
    'node:crypto': DIGEST,
    croner: only(['Cron', 'CronPattern'], 'which times a text names is a plain function of both'),
    '@marcbachmann/cel-js': only(['Environment'], 'a language is a plain function of text and value'),
  },
  'engine/graph': { engine: values, errors: values, zod: values },
  'engine/walk': { engine: values, 'engine/graph': values, errors: values },
  'engine/dry-run': { engine: values, 'engine/graph': values, 'engine/walk': values, errors: values },
  'workflow.constants.ts': {},

  // What a user touches.
  interfaces: { engine: types, errors: types, '@nestjs/common': types, zod: types, rxjs: types },
  decorators: {
    interfaces: types,
    'workflow.constants.ts': values,
    '@nestjs/common': values,
    'reflect-metadata': values,
  },
  services: {
    engine: values,
    'engine/graph': values,
    'engine/dry-run': values,
    errors: values,
    interfaces: types,
    context: types,
    runtime: types,
    rxjs: values,
    'node:buffer': only(['isUtf8'], 'whether bytes are text is a plain function of them'),
    'node:crypto': only(['createHash', 'timingSafeEqual'], 'secrets are compared in constant time'),
    standardwebhooks: only(['Webhook'], 'a signature is a plain function of secret and message'),
  },

  // The outside, each library behind one door.
  persistence: {
    engine: types,
    errors: values,
    typeorm: values,
    'node:crypto': values,
    '@nestjs/common': only(['Logger'], 'a broken connection has nobody else to tell'),
  },
  context: {
    engine: only(['isPlainText', 'MAX_KEY_LENGTH'], 'whether a text can be an owner is a plain function of it'),
    errors: values,
    interfaces: types,
    '@nestjs/common': values,
    'nestjs-cls': values,
    'node:async_hooks': only(['AsyncLocalStorage', 'AsyncResource'], "the caller's contexts are left behind"),
  },

  // The moving parts.
  authorization: {
    discovery: types,
    engine: values,
    errors: values,
    interfaces: types,
    runtime: types,
    services: types,
    'workflow.constants.ts': values,
    '@nestjs/common': values,
    '@nestjs/core': values,
  },
  discovery: {
    engine: values,
    errors: values,
    interfaces: types,
    'workflow.constants.ts': values,
    '@nestjs/common': values,
    '@nestjs/core': values,
    'reflect-metadata': values,
  },
  runtime: {
    engine: values,
    'engine/graph': values,
    'engine/walk': values,
    errors: values,
    interfaces: types,
    'node:async_hooks': only(
      ['AsyncLocalStorage', 'AsyncResource'],
      'a step called inside the body of a step is known by its context, and nothing else may be in it',
    ),
  },

  webhooks: {
    composition: only(['WORKFLOW_RUNTIME'], 'the engine of the app makes what answers'),
    engine: values,
    errors: values,
    services: types,
    'node:stream': types,
    '@nestjs/common': values,
    '@nestjs/core': values,
  },

  // The knot: the files that see every room, and tie the engine's ports to their implementations.
  composition: {
    authorization: values,
    context: values,
    discovery: values,
    engine: values,
    'engine/graph': values,
    'engine/walk': values,
    errors: values,
    interfaces: types,
    persistence: values,
    runtime: values,
    services: values,
    'workflow.constants.ts': values,
    '@nestjs/common': values,
    '@nestjs/core': values,
    '@nestjs/typeorm': values,
    'node:crypto': values,
    'node:os': values,
    typeorm: types,
    uuid: values,
  },
  'workflow.options-schema.ts': { engine: values, errors: values, interfaces: types, zod: values },
  'workflow.module-definition.ts': {
    engine: values,
    errors: values,
    interfaces: types,
    'workflow.constants.ts': values,
    'workflow.options-schema.ts': values,
    '@nestjs/common': values,
  },
  'workflow.module.ts': {
    authorization: values,
    composition: values,
    context: values,
    discovery: values,
    interfaces: types,
    persistence: values,
    services: values,
    'workflow.constants.ts': values,
    'workflow.module-definition.ts': values,
    '@nestjs/common': values,
    '@nestjs/core': values,
  },
  'index.ts': {
    authorization: values,
    context: values,
    decorators: values,
    discovery: values,
    engine: values,
    'engine/graph': values,
    errors: values,
    interfaces: values,
    persistence: values,
    services: values,
    'workflow.constants.ts': values,
    'workflow.module.ts': values,
    webhooks: values,
  },

  // Kits, exported as subpaths.
  'testing/memory': { engine: values, errors: values, uuid: values },
  'testing/conformance': { engine: values, errors: values, uuid: values, 'node:crypto': DIGEST },
  'testing/postgres': {
    errors: values,
    'node:child_process': values,
    'node:crypto': values,
    'node:fs': values,
    'node:http': values,
    'node:module': values,
    'node:net': values,
    'node:os': values,
    'node:path': values,
    pg: lazily('only what makes databases needs a driver'),
    '@testcontainers/postgresql': lazily('only where a container engine answers'),
  },
  testing: {
    composition: values,
    context: types,
    discovery: types,
    engine: values,
    errors: values,
    interfaces: types,
    persistence: values,
    runtime: only(['StepCrashes'], 'the tester arms it, the runtime dies by it'),
    services: values,
    'testing/conformance': values,
    'testing/memory': values,
    'testing/postgres': values,
    'workflow.module.ts': values,
    '@nestjs/common': values,
    '@nestjs/core': values,
    '@nestjs/testing': values,
    typeorm: values,
  },
  // A program of its own: no host has made it a DataSource.
  cli: { errors: values, persistence: values, typeorm: values, 'node:util': values },
};

/** Where each outside library comes in by value. Nest itself is met in several rooms, and Node's modules are no library. */
export const DOORS: Readonly<Record<string, readonly string[]>> = {
  typeorm: ['persistence'],
  'nestjs-cls': ['context'],
  '@nestjs/typeorm': ['composition'],
  zod: ['engine/graph', 'workflow.options-schema.ts'],
  rxjs: ['services'],
  uuid: ['composition'],
  '@marcbachmann/cel-js': ['engine'],
  croner: ['engine'],
  standardwebhooks: ['services'],
};

/** No part of the running app: what they load, it does not. */
export const APART = ['testing', 'cli'];

/** Optional for the package, taken for granted in a kit: whoever tests a Nest app has it. */
export const TAKEN_FOR_GRANTED: Readonly<Record<string, string>> = { '@nestjs/testing': 'testing' };

/** Everywhere by value: the framework that the package is for. */
export const FRAMEWORK = ['@nestjs/common', '@nestjs/core', 'reflect-metadata'];

/** Where Nest is met in files without a dot-suffix (`worker.service.ts`), and why they are named otherwise. */
export const PLAIN_NEST_FILES: Readonly<Record<string, string>> = {
  composition: 'the whole room is the knot between Nest and the rest',
  'testing/workflow-tester.ts': 'a kit for Nest apps, named as hosts know it',
  discovery: 'explorer, accessor and registry are words of Nest',
  'decorators/make-injectable.ts': 'what two decorators share',
  persistence: 'takes nothing but the Logger',
  'workflow.module-definition.ts': 'the statics of the module',
};
