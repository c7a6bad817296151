import { z } from 'zod';
import { isIdentifier, IDENTIFIER_RULE } from './engine/definition/identifier.js';
import type { JobTransport } from './engine/ports/index.js';
import { thrownMessage } from './engine/codec/thrown-text.js';
import { isPlainText, MAX_KEY_LENGTH } from './engine/codec/plain-text.js';
import type {
  ApproverResolver,
  LifecycleAdapter,
  OwnerContext,
  RowLevelSecurityOptions,
  StageAuthorizer,
  SubjectResolver,
} from './interfaces/index.js';
import { formatDuration, MAX_DURATION_MS, MAX_TIMER_MS, parseDurationMs, type Duration } from './engine/time/index.js';

/** The smallest interval of anything that comes round: less is a busy loop, most often seconds written for milliseconds. */
const MIN_INTERVAL_MS = 10;
const HOUR_MS = 3_600_000;

/** A duration in milliseconds, within bounds that its problem names. */
function duration(min: number, max: number) {
  return z.unknown().transform((value, ctx): number => {
    try {
      const ms = parseDurationMs(value as Duration, 'it');
      if (ms >= min && ms <= max) return ms;
      const bounds = `from ${formatDuration(min)} to ${formatDuration(max)}`;
      ctx.issues.push({
        code: 'custom',
        input: value,
        message: `it is ${formatDuration(ms)}; give it a duration ${bounds}`,
      });
    } catch (error) {
      ctx.issues.push({ code: 'custom', input: value, message: thrownMessage(error) });
    }
    return z.NEVER;
  });
}

const interval = (max = MAX_TIMER_MS) => duration(MIN_INTERVAL_MS, max);
const period = () => duration(1, MAX_DURATION_MS);

function integer(min: number, max: number) {
  const message = `give it an integer from ${min} to ${max}`;
  return z.number(message).int(message).min(min, message).max(max, message);
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const callback = z.custom<(...args: any[]) => any>(isFunction, 'give it a function');
const queueName = z.custom<string>(isIdentifier, `a queue's name is ${IDENTIFIER_RULE}`);

// The same rule as the migrations': both become part of SQL texts, and PostgreSQL cuts longer names silently.
const plainName = (max: number) =>
  z
    .string()
    .regex(new RegExp(`^[A-Za-z_][A-Za-z0-9_]{0,${max - 1}}$`), `up to ${max} letters, digits and "_", no digit first`);

function isDataSource(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return typeof value === 'object' && value !== null && 'options' in value && 'driver' in value;
}

const TRANSPORT_METHODS = ['start', 'send', 'cancelByRun', 'stop'] as const;

function isTransport(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return TRANSPORT_METHODS.every((method) => isFunction((value as Record<string, unknown>)[method]));
}

/** The class of a provider, or an object with this method. */
const isProvider =
  (method: string) =>
  (value: unknown): boolean => {
    if (isFunction(value)) return true;
    return typeof value === 'object' && value !== null && isFunction((value as Record<string, unknown>)[method]);
  };

const SUBJECT_TYPE = 'the type of a subject is a text that is not blank';
const RESOLVER_NAME =
  'a name that graphs can say after `approvers.`: letters, digits and _, not beginning with a digit';
const isResolverName = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 100 && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
const isKey = (value: unknown): boolean => isPlainText(value, MAX_KEY_LENGTH);

const ability = z.custom<string | null>(
  (value) => value === null || (typeof value === 'string' && value.trim() !== ''),
  'give it the name of an ability, or null for none',
);

const operation = ability.default(null);

const json = z.record(z.string(), z.unknown());

/** What a template holds is checked where it is filled: here only that it is one. */
const TEMPLATE = z.strictObject({
  id: z.string().regex(/^[\w.:-]{1,100}$/, 'must be up to 100 letters, digits, _ . : -'),
  name: z.string().min(1).max(200),
  description: z.string().max(2_000).optional(),
  parameters: json,
  example: json,
  graph: json,
});

/** Operators' calls that may have an ability. */
export const OPERATIONS = z.strictObject({
  cancel: operation,
  terminate: operation,
  retry: operation,
  rerunFrom: operation,
  migrateRun: operation,
  signal: operation,
  decide: operation,
  delegate: operation,
  revoke: operation,
  withdraw: operation,
  closeApproval: operation,
  remind: operation,
  saveDraft: operation,
  publish: operation,
  retire: operation,
});

const databaseUrl = z.string().regex(/^postgres(ql)?:\/\//, 'give it a URL that begins with postgres://');

/** A misspelt name beside the right ones is refused too: of what guards owners nothing may be guessed. */
function isRowLevelSecurity(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  const { dispatcher, ...rest } = (value ?? {}) as { readonly dispatcher?: Record<string, unknown> };
  if (typeof dispatcher !== 'object' || dispatcher === null || Object.keys(rest).length > 0) return false;
  const { url, username, password, ...unknown } = dispatcher;
  if (Object.keys(unknown).length > 0) return false;
  if (url !== undefined) return username === undefined && password === undefined && databaseUrl.safeParse(url).success;
  return typeof username === 'string' && username !== '' && ['string', 'undefined'].includes(typeof password);
}

/** The parts of the options that are objects of their own. */
export const SECTIONS = {
  worker: z.strictObject({
    concurrency: integer(1, 10_000).default(20),
    pollInterval: interval(HOUR_MS).default(1_000),
    queues: z.array(queueName).min(1, 'an empty list serves nothing; write `worker: false` for that').optional(),
    notify: z.boolean().default(true),
    listenUrl: databaseUrl.optional(),
  }),
  queue: z.strictObject({ default: queueName.default('default') }),
  lease: z.strictObject({
    heartbeatInterval: interval().default(60_000),
    staleThreshold: interval(MAX_DURATION_MS).default(300_000),
    absoluteTimeout: duration(0, MAX_DURATION_MS).default(HOUR_MS),
    maxLosses: integer(0, 1_000).default(5),
  }),
  wake: z.strictObject({
    every: z.literal(false, 'it').or(interval(HOUR_MS)).default(5_000),
    batch: integer(1, 10_000).default(100),
    claimTtl: interval(MAX_DURATION_MS).default(60_000),
  }),
  idempotency: z.strictObject({ ttl: period().default(30 * 24 * HOUR_MS), strict: z.boolean().default(false) }),
  events: z.strictObject({ retention: period().default(7 * 24 * HOUR_MS) }),
  triggers: z.strictObject({
    maxDepth: integer(1, 100).default(5),
    allowCycles: z.boolean().default(false),
    entities: z
      .array(
        z.custom<Function | string>(
          (value) => isFunction(value) || isKey(value),
          'give it classes of entities, or their names',
        ),
      )
      .default([]),
  }),
  outbox: z.strictObject({ maxAttempts: integer(1, 1_000).default(10), backoff: z.any().optional() }),
  owners: z.strictObject({
    resolve: callback.optional(),
    load: callback.optional(),
    context: z
      .custom<Function | OwnerContext>(isProvider('run'), 'give it the class of a provider, or an object with run()')
      .optional(),
    rowLevelSecurity: z
      .custom<boolean | RowLevelSecurityOptions>(
        isRowLevelSecurity,
        'give it true, false, { dispatcher: { username, password } } or { dispatcher: { url: "postgres://…" } }',
      )
      .default(false),
  }),
  subjects: z.strictObject({
    resolvers: z
      .record(
        z.custom<string>(isKey, SUBJECT_TYPE),
        z.custom<Function | SubjectResolver>(
          isProvider('load'),
          'give it the class of a provider, or an object with load()',
        ),
      )
      .default({}),
    lifecycles: z
      .record(
        z.custom<string>(isKey, SUBJECT_TYPE),
        z.custom<Function | LifecycleAdapter>(
          isProvider('transition'),
          'give it the class of a provider, or an object with transition()',
        ),
      )
      .default({}),
    autoTouch: z.boolean().default(true),
  }),
  approvals: z.strictObject({
    actorId: callback.optional(),
    resolvers: z
      .record(
        z.custom<string>(isResolverName, RESOLVER_NAME),
        z.custom<Function | ApproverResolver>(
          isProvider('resolve'),
          'give it the class of a provider, or an object with resolve()',
        ),
      )
      .default({}),
    remindEvery: interval(MAX_DURATION_MS).default(HOUR_MS),
  }),
  authorization: z.strictObject({
    authorizer: z
      .custom<Function | StageAuthorizer>(
        isProvider('authorize'),
        'give it the class of a provider, or an object with authorize()',
      )
      .optional(),
    abilities: z.record(z.string(), ability).default({}),
    operations: OPERATIONS.prefault({}),
    timeout: interval().default(10_000),
  }),
  retry: z.strictObject({
    maxAttemptsCap: integer(1, 1_000).default(10),
    maxAttempts: z.any().optional(),
    backoff: z.any().optional(),
    jitter: z.any().optional(),
  }),
  limits: z.strictObject({
    maxStageRuns: z.any().optional(),
    nestingDepth: z.any().optional(),
    maxOutputBytes: z.any().optional(),
    maxInputBytes: z.any().optional(),
    startsPerMinute: z.any().optional(),
  }),
} as const;

/** The options as zod sees them. Policies and limits are compiled, and so checked, by the engine. */
export const OPTIONS_SCHEMA = z.strictObject({
  dataSource: z.custom<any>(isDataSource, 'give it the name of a DataSource, or a TypeORM DataSource').optional(),
  schema: plainName(63).optional(),
  tablePrefix: plainName(31).default('workflow_'),
  migrations: z.enum(['run', 'check', 'none']).default('check'),
  isGlobal: z.boolean().optional(),
  worker: SECTIONS.worker.prefault({}),
  transport: z
    .custom<JobTransport>(isTransport, `give it a JobTransport: an object with ${TRANSPORT_METHODS.join(', ')}`)
    .optional(),
  queue: SECTIONS.queue.prefault({}),
  lease: SECTIONS.lease.prefault({}),
  retry: SECTIONS.retry.prefault({}),
  limits: SECTIONS.limits.prefault({}),
  shutdownGrace: duration(0, MAX_TIMER_MS).default(30_000),
  stuckAfter: interval(MAX_DURATION_MS).optional(),
  requeueAfter: interval(MAX_DURATION_MS).default(60_000),
  versionDeferDelay: interval(MAX_DURATION_MS).default(30_000),
  wake: SECTIONS.wake.prefault({}),
  idempotency: SECTIONS.idempotency.prefault({}),
  events: SECTIONS.events.prefault({}),
  triggers: SECTIONS.triggers.prefault({}),
  templates: z.array(TEMPLATE).prefault([]),
  outbox: SECTIONS.outbox.prefault({}),
  owners: SECTIONS.owners.prefault({}),
  subjects: SECTIONS.subjects.prefault({}),
  approvals: SECTIONS.approvals.prefault({}),
  authorization: SECTIONS.authorization.prefault({}),
  systemActor: callback.optional(),
  messages: z.record(z.string(), z.string()).default({}),
  onDrift: z.enum(['refuse', 'warn']).default('refuse'),
  foreignDecorators: z.enum(['refuse', 'ignore']).default('refuse'),
});

export type ParsedOptions = z.output<typeof OPTIONS_SCHEMA>;
