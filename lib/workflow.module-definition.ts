import type { Provider } from '@nestjs/common';
import { closestName, InvalidOptionsError, type OptionProblem } from './errors/index.js';
import { compileLimits } from './engine/limits/index.js';
import { compileRetryPolicy, DEFAULT_MAX_ATTEMPTS_CAP } from './engine/retry/index.js';
import type { ResolvedWorkflowOptions } from './interfaces/resolved-workflow-options.js';
import type { WorkflowModuleAsyncOptions, WorkflowOptionsFactory } from './interfaces/workflow-module-async-options.js';
import type {
  LimitOptions,
  ModuleRetryOptions,
  OutboxOptions,
  WorkflowModuleOptions,
} from './interfaces/workflow-module-options.js';
import { RESOLVED_WORKFLOW_OPTIONS, WORKFLOW_MODULE_OPTIONS } from './workflow.constants.js';
import { OPERATIONS, OPTIONS_SCHEMA, SECTIONS, type ParsedOptions } from './workflow.options-schema.js';

const MIN_STUCK_AFTER_MS = 5 * 60_000;
const DEFAULT_OUTBOX_ATTEMPTS = 10;
const DEFAULT_OUTBOX_BACKOFF = { base: '1s', factor: 2, max: '10m' };

/**
 * Checks the module's options as a whole and fills in every default.
 *
 * @throws InvalidOptionsError with every problem there is; an unknown option is named with the one most likely meant.
 */
export function resolveOptions(options: WorkflowModuleOptions = {}): ResolvedWorkflowOptions {
  if (!isPlainRecord(options)) {
    throw new InvalidOptionsError({
      problems: [{ path: '', message: 'the options must be an object; did the factory return nothing?' }],
    });
  }
  // `false` is set aside: as one arm of a union it would hide what is wrong inside the other.
  const executes = options.worker !== false;
  const parsed = OPTIONS_SCHEMA.safeParse(executes ? options : { ...options, worker: undefined });
  const problems = parsed.success ? [] : parsed.error.issues.flatMap(describeIssue);
  // Policies and limits are checked even where something else is wrong: all problems at once.
  const compiled = compileParts(options, problems);
  if (!parsed.success) throw new InvalidOptionsError({ problems: firstByPath(problems) });
  const data = parsed.data;
  problems.push(...contradictions(data));
  if (problems.length > 0) throw new InvalidOptionsError({ problems });
  return Object.freeze({ ...assemble(data, executes), ...compiled }) as ResolvedWorkflowOptions;
}

/** Providers of the options, raw and resolved, for `forRootAsync`. `imports` are the module's to take. */
export function createOptionsProviders(async: WorkflowModuleAsyncOptions): Provider[] {
  return [
    ...(async.extraProviders ?? []),
    ...createFactoryProviders(async),
    { provide: RESOLVED_WORKFLOW_OPTIONS, useFactory: resolveFactoryOptions, inject: [WORKFLOW_MODULE_OPTIONS] },
  ];
}

function createFactoryProviders({
  useFactory,
  useClass,
  useExisting,
  inject = [],
}: WorkflowModuleAsyncOptions): Provider[] {
  const ways = [useFactory, useClass, useExisting].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    const message = `give it exactly one of useFactory, useClass and useExisting, not ${ways.length}`;
    throw new InvalidOptionsError({ where: 'WorkflowModule.forRootAsync', problems: [{ path: '', message }] });
  }
  if (useFactory) return [{ provide: WORKFLOW_MODULE_OPTIONS, useFactory, inject }];
  const fromFactory = (factory: WorkflowOptionsFactory) => factory.createWorkflowOptions();
  if (useExisting) return [{ provide: WORKFLOW_MODULE_OPTIONS, useFactory: fromFactory, inject: [useExisting] }];
  return [
    { provide: useClass!, useClass: useClass! },
    { provide: WORKFLOW_MODULE_OPTIONS, useFactory: fromFactory, inject: [useClass!] },
  ];
}

function resolveFactoryOptions(options: WorkflowModuleOptions | undefined): ResolvedWorkflowOptions {
  if (options?.isGlobal !== undefined) {
    const message = 'stands beside useFactory, not in what it returns: Nest needs it before the factory runs';
    throw new InvalidOptionsError({ where: 'WorkflowModule.forRootAsync', problems: [{ path: 'isGlobal', message }] });
  }
  // A forgotten `return` is a mistake; no options at all are `{}`.
  return resolveOptions(options ?? (null as never));
}

type Compiled = Pick<ResolvedWorkflowOptions, 'retry' | 'limits' | 'outbox'>;

function compileParts({ retry, limits, outbox }: WorkflowModuleOptions, problems: OptionProblem[]): Compiled {
  // Only what the engine knows: an unknown name was complained about by the schema.
  const {
    maxAttemptsCap = DEFAULT_MAX_ATTEMPTS_CAP,
    maxAttempts,
    backoff,
    jitter,
  } = asRecord(retry) as ModuleRetryOptions;
  const { maxStageRuns, nestingDepth, maxOutputBytes, maxInputBytes, startsPerMinute } = asRecord(
    limits,
  ) as LimitOptions;
  const { maxAttempts: tries = DEFAULT_OUTBOX_ATTEMPTS, backoff: delays = DEFAULT_OUTBOX_BACKOFF } = asRecord(
    outbox,
  ) as OutboxOptions;
  return {
    retry: Object.freeze({
      policy: attempt('retry', problems, () => compileRetryPolicy({ maxAttempts, backoff, jitter }, 'retry')),
      maxAttemptsCap,
    }),
    limits: attempt('limits', problems, () =>
      compileLimits({ maxStageRuns, nestingDepth, maxOutputBytes, maxInputBytes, startsPerMinute }),
    ),
    outbox: Object.freeze({
      policy: attempt('outbox', problems, () => compileRetryPolicy({ maxAttempts: tries, backoff: delays }, 'outbox')),
    }),
  };
}

/** What `compile` returns; where it throws, its problems, and a value that nobody gets to see. */
function attempt<T>(section: string, problems: OptionProblem[], compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof InvalidOptionsError)) throw error;
    problems.push(...error.problems.map(({ path, message }) => ({ path: `${section}.${path}`, message })));
    return undefined as T;
  }
}

function assemble(data: ParsedOptions, executes: boolean): Omit<ResolvedWorkflowOptions, keyof Compiled> {
  const { worker, lease, wake, idempotency, events, triggers, owners, subjects, approvals, authorization } = data;
  const queues = worker.queues ? Object.freeze([...new Set(worker.queues)]) : null;
  return {
    dataSource: data.dataSource ?? null,
    schema: data.schema ?? null,
    tablePrefix: data.tablePrefix,
    migrations: data.migrations,
    worker: executes
      ? Object.freeze({
          concurrency: worker.concurrency,
          pollIntervalMs: worker.pollInterval,
          queues,
          notify: worker.notify,
          listenUrl: worker.listenUrl ?? null,
        })
      : null,
    transport: data.transport ?? null,
    queue: Object.freeze({ default: data.queue.default }),
    lease: Object.freeze({
      heartbeatIntervalMs: lease.heartbeatInterval,
      staleThresholdMs: lease.staleThreshold,
      absoluteTimeoutMs: lease.absoluteTimeout,
      maxLosses: lease.maxLosses,
    }),
    shutdownGraceMs: data.shutdownGrace,
    stuckAfterMs: data.stuckAfter ?? Math.max(3 * lease.staleThreshold, MIN_STUCK_AFTER_MS),
    requeueAfterMs: data.requeueAfter,
    versionDeferDelayMs: data.versionDeferDelay,
    wake: Object.freeze({
      everyMs: wake.every === false ? null : wake.every,
      batch: wake.batch,
      claimTtlMs: wake.claimTtl,
    }),
    idempotency: Object.freeze({ ttlMs: idempotency.ttl, strict: idempotency.strict }),
    events: Object.freeze({ retentionMs: events.retention }),
    templates: Object.freeze(data.templates),
    triggers: Object.freeze({ ...triggers, entities: Object.freeze(triggers.entities) }),
    owners: Object.freeze({
      resolve: owners.resolve ?? null,
      load: owners.load ?? null,
      context: owners.context ?? null,
      rowLevelSecurity: owners.rowLevelSecurity === true ? 'switch' : owners.rowLevelSecurity || null,
    }),
    subjects: Object.freeze({
      resolvers: Object.freeze({ ...subjects.resolvers }),
      lifecycles: Object.freeze({ ...subjects.lifecycles }),
      autoTouch: subjects.autoTouch,
    }),
    approvals: Object.freeze({
      actorId: approvals.actorId ?? null,
      resolvers: Object.freeze({ ...approvals.resolvers }),
      remindEveryMs: approvals.remindEvery,
    }),
    authorization: Object.freeze({
      authorizer: authorization.authorizer ?? null,
      abilities: Object.freeze({ ...authorization.abilities }),
      operations: Object.freeze({ ...authorization.operations }),
      timeoutMs: authorization.timeout,
    }),
    systemActor: data.systemActor ?? null,
    messages: Object.freeze({ ...data.messages }),
    onDrift: data.onDrift,
    foreignDecorators: data.foreignDecorators,
  };
}

/** Options that are right each by itself and wrong together. */
function contradictions({ lease, stuckAfter }: ParsedOptions): OptionProblem[] {
  const problems: OptionProblem[] = [];
  if (lease.heartbeatInterval * 2 >= lease.staleThreshold) {
    // One heartbeat may come late without the lease being given away.
    const message = `must be less than half of lease.staleThreshold: ${lease.heartbeatInterval} ms of ${lease.staleThreshold} ms`;
    problems.push({ path: 'lease.heartbeatInterval', message });
  }
  if (stuckAfter !== undefined && stuckAfter <= lease.staleThreshold) {
    const message = `must be more than lease.staleThreshold (${lease.staleThreshold} ms): a lost lease would fail the run before it is given to another worker`;
    problems.push({ path: 'stuckAfter', message });
  }
  return problems;
}

type Issue = NonNullable<ReturnType<typeof OPTIONS_SCHEMA.safeParse>['error']>['issues'][number];

function knownOptions(path: string): string[] {
  if (path === 'authorization.operations') return Object.keys(OPERATIONS.shape);
  return Object.keys(path === '' ? OPTIONS_SCHEMA.shape : SECTIONS[path as keyof typeof SECTIONS].shape);
}

function describeIssue(issue: Issue): OptionProblem[] {
  const path = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') return [{ path, message: deepestMessage(issue) }];
  const known = knownOptions(path);
  return issue.keys.map((key) => {
    const meant = closestName(key, known);
    return {
      path: path === '' ? key : `${path}.${key}`,
      message: `there is no such option${meant === undefined ? `; there are: ${known.join(', ')}` : `; did you mean "${meant}"?`}`,
    };
  });
}

/** Of a union the complaint of its last arm: the others are fixed values such as `false`. */
function deepestMessage(issue: Issue): string {
  const arm = issue.code === 'invalid_union' ? issue.errors.at(-1)?.[0] : undefined;
  return arm?.message ?? issue.message;
}

/** One problem an option: what the schema refuses, the engine's own check may refuse again. */
function firstByPath(problems: readonly OptionProblem[]): OptionProblem[] {
  return problems.filter(({ path }, at) => problems.findIndex((other) => other.path === path) === at);
}

function isPlainRecord(value: unknown): value is WorkflowModuleOptions {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asRecord(value: unknown): Record<string, unknown> {
  return isPlainRecord(value) ? { ...value } : {};
}
