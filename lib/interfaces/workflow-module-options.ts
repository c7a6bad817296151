import type { MessageOverrides } from '../errors/index.js';
import type { JobTransport } from '../engine/ports/index.js';
import type { RetryPolicy } from '../engine/retry/retry-policy.js';
import type { Duration } from '../engine/time/duration.js';
import type { ApproverResolver } from './approver-resolver.js';
import type { WorkflowTemplate } from '../engine/templates/index.js';
import type { OwnerContext } from './owner-context.js';
import type { Operation } from './operation-authorization.js';
import type { StageAuthorizer } from './stage-authorization.js';
import type { LifecycleAdapter } from './lifecycle.js';
import type { SubjectResolver } from './subject.js';

/**
 * What `WorkflowModule.forRoot` takes. All optional. Checked as a whole at boot: a wrong or unknown option stops the app
 * with an `InvalidOptionsError` that names every one of them.
 *
 * Durations are milliseconds, or texts such as `'30s'`, `'5m'`, `'7 days'`, `'PT5M'`.
 *
 * @publicApi
 */
export interface WorkflowModuleOptions {
  /** The host's TypeORM DataSource: its name, or the object. @default the unnamed one */
  dataSource?: string | DataSourceLike;
  /** PostgreSQL schema of the engine's tables. @default the DataSource's */
  schema?: string;
  /** What the engine's tables begin with: lower case letters, digits, `_`. @default 'workflow_' */
  tablePrefix?: string;
  /** `'run'` applies missing migrations at boot, `'check'` refuses to boot without them, `'none'` does not look. @default 'check' */
  migrations?: 'run' | 'check' | 'none';
  /** Whether any module may inject the services without importing the module. @default true */
  isGlobal?: boolean;
  /** `false`: this process starts runs and reads them, and executes none. */
  worker?: false | WorkerOptions;
  /**
   * Carries jobs to processes in place of the built-in worker: an adapter for a broker. `worker.concurrency` and
   * `worker.queues` hold for it too. Give every process the same kind. @default the worker claims from the database
   */
  transport?: JobTransport;
  queue?: QueueOptions;
  lease?: LeaseOptions;
  /** The policy of stages that nothing more specific gives one to (RETRY-1), and the cap over all policies. */
  retry?: ModuleRetryOptions;
  limits?: LimitOptions;
  /** How long running stages may go on at shutdown before they are aborted and handed back. @default '30s' */
  shutdownGrace?: Duration;
  /** How long nothing of a run may move, with nothing due, before it fails STUCK_RUN_REAPED. @default the larger of 3 × `lease.staleThreshold` and 5 min */
  stuckAfter?: Duration;
  /**
   * How long a message may be with the `transport` before its job counts as lost and is sent again. Longer than work waits in
   * the broker, or messages are doubled in vain. @default '60s'
   */
  requeueAfter?: Duration;
  /** First delay of a job whose definition version this build does not serve; it grows. @default '30s' */
  versionDeferDelay?: Duration;
  wake?: WakeOptions;
  idempotency?: IdempotencyOptions;
  events?: EventOptions;
  triggers?: TriggerOptions;
  /** Graphs that admins may start from, beside those that every app has (`definitions.templates`). Checked at boot. @default none */
  templates?: readonly WorkflowTemplate[];
  outbox?: OutboxOptions;
  owners?: OwnerOptions;
  subjects?: SubjectOptions;
  approvals?: ApprovalOptions;
  authorization?: AuthorizationOptions;
  /** On whose behalf runs of `actor: 'system'` act: what `ctx.actor` is. Asked once per attempt. @default null */
  systemActor?: () => unknown;
  /** Texts instead of the package's, by error code, with the same `{places}` (FAIL-4). */
  messages?: MessageOverrides;
  /** What a changed structure under an unchanged id and version means at boot, while runs of it are unfinished (DEF-4). @default 'refuse' */
  onDrift?: 'refuse' | 'warn';
  /**
   * What a provider means that carries another engine's `@Workflow` or `@Stage` and none of ours: most often a wrong
   * import. `'ignore'` it where two engines live in one app on purpose. @default 'refuse'
   */
  foreignDecorators?: 'refuse' | 'ignore';
}

/** A TypeORM DataSource, told by its shape: the copy of typeorm that the host has made it. */
export interface DataSourceLike {
  readonly options: { readonly type: string };
  readonly isInitialized: boolean;
  readonly driver: object;
}

export interface WorkerOptions {
  /** Most stages running at once in this process. An integer from 1 to 10,000. @default 20 */
  concurrency?: number;
  /** How often an idle worker looks, where nothing woke it. From 10 ms to 1 h. @default '1s' */
  pollInterval?: Duration;
  /** Serve these queues only. @default all */
  queues?: readonly string[];
  /** `false` where LISTEN can't be used (PgBouncer in transaction mode): new work is then found by polling. @default true */
  notify?: boolean;
  /**
   * Connection URL for LISTEN alone, straight to the server where the DataSource's goes through a pooler: work is then found
   * within milliseconds there too. @default the DataSource's
   */
  listenUrl?: string;
}

export interface QueueOptions {
  /** Queue of whatever names none. @default 'default' */
  default?: string;
}

export interface LeaseOptions {
  /** How often a worker extends its leases. Must fit twice into `staleThreshold`. @default '60s' */
  heartbeatInterval?: Duration;
  /** A lease not extended for this long is given to somebody else. @default '300s' */
  staleThreshold?: Duration;
  /** Most time from claim to end of one attempt, heartbeats or not; 0 = none. A stage's `timeout` may raise it. @default '1h' */
  absoluteTimeout?: Duration;
  /** Lost leases of one stage run before it fails LEASE_EXPIRED; they do not use up its attempts. @default 5 */
  maxLosses?: number;
}

export type ModuleRetryOptions = RetryPolicy & {
  /** No policy may try more often. From 1 to 1,000. @default 10 */
  maxAttemptsCap?: number;
};

export interface LimitOptions {
  /** Stage runs of one run (LIMIT-1). @default 200 */
  maxStageRuns?: number;
  /** How deep runs may start runs; a root is 0 (LIMIT-2). @default 3 */
  nestingDepth?: number;
  /** Bytes of one stage's output as JSON (LIMIT-6). @default 65536 */
  maxOutputBytes?: number;
  /** Bytes of a run's input as JSON (LIMIT-6). @default 262144 */
  maxInputBytes?: number;
  /**
   * Starts of one definition within a minute, over all processes (LIMIT-3): what is above is created FAILED
   * START_RATE_EXCEEDED. A definition may set its own, and only lower this one. @default null: no limit
   */
  startsPerMinute?: number | null;
}

export interface WakeOptions {
  /** How often the wake pass runs by itself; `false` = only when `WakeService.wake()` is called. @default '5s' */
  every?: Duration | false;
  /** Rows of one kind handled in one statement. From 1 to 10,000. @default 100 */
  batch?: number;
  /** A claim of a wake pass older than this reverts. @default '60s' */
  claimTtl?: Duration;
}

export interface IdempotencyOptions {
  /** How long a start key is remembered. @default '30 days' */
  ttl?: Duration;
  /** Refuse the same key with another input (IDEMPOTENCY_CONFLICT). @default false */
  strict?: boolean;
}

export interface EventOptions {
  /** How long an emitted event is kept for waits that do not exist yet (WAIT-3). @default '7 days' */
  retention?: Duration;
}

/** What starts graphs by itself. */
export interface TriggerOptions {
  /** How many triggers may lead to a run, one after the other. From 1 to 100. @default 5 */
  maxDepth?: number;
  /** Whether what a run led to may start its definition again. `maxDepth` is what ends it then. @default false */
  allowCycles?: boolean;
  /**
   * Entities whose changes triggers may listen to, by class or by name: each change of theirs is kept as an event, in the transaction
   * that makes it. Those that TypeORM tells of one by one; not what is changed by criteria or plain SQL. @default none
   */
  entities?: readonly (Function | string)[];
}

export interface OutboxOptions {
  /** Tries of a failing event handler before the event is a dead letter. From 1 to 1,000. @default 10 */
  maxAttempts?: number;
  /** Delays between them, as in a retry policy; the last repeats. @default 1 s doubling up to 10 min */
  backoff?: RetryPolicy['backoff'];
}

export interface OwnerOptions {
  /**
   * Who owns what `start` creates, out of the caller's CLS. Null = nobody; undefined is refused, so that a forgotten
   * middleware does not make ownerless runs.
   */
  resolve?: (cls: ClsLike) => string | null | undefined;
  /** What bodies see as `ctx.owner`, by the stored id. @default the id itself */
  load?: (id: string) => unknown;
  /**
   * Around whatever runs for an owner (OWNER-2): a provider's class, or an object. `startMany` for several owners writes those of one
   * owner at a time. @default nothing
   */
  context?: (abstract new (...args: any[]) => OwnerContext) | OwnerContext;
  /**
   * Lets PostgreSQL hold owners apart as well (OWNER-4): what is done for one runs in transactions that set `app.owner_id`, under the
   * policies of `migrate --row-level-security`; every start needs an owner. What the engine does for all owners runs as the
   * dispatcher's role: of a login of its own (`dispatcher`, at no cost), or, with `true`, by SET LOCAL ROLE in each transaction. The
   * app's role must be neither superuser nor have BYPASSRLS; boot proves that it holds. @default false
   */
  rowLevelSecurity?: boolean | RowLevelSecurityOptions;
}

/** @publicApi */
export interface RowLevelSecurityOptions {
  /** Who logs in for the engine: a role on the DataSource's server, a member of the dispatcher's; or a URL. */
  dispatcher: { username: string; password?: string } | { url: string };
}

export interface SubjectOptions {
  /**
   * Who loads subjects, by their type: a provider's class, or an object. @default entities with `@WorkflowSubject`; a type has one
   * of the two
   */
  resolvers?: Readonly<Record<string, (abstract new (...args: any[]) => SubjectResolver) | SubjectResolver>>;
  /**
   * Who moves and changes subjects for nodes of graphs, by their type: a provider's class, or an object.
   * @default what `@WorkflowSubject` says in `lifecycles` and `writable`
   */
  lifecycles?: Readonly<Record<string, (abstract new (...args: any[]) => LifecycleAdapter) | LifecycleAdapter>>;
  /** Whether entities with `@WorkflowSubject` that TypeORM writes are touched by themselves, after the commit. @default true */
  autoTouch?: boolean;
}

export interface ApprovalOptions {
  /** The id that an actor (`setActor`) is known by as an approver; null = nobody. @default a text itself; of an object its `id` */
  actorId?: (actor: any) => string | null | undefined;
  /** Who is to decide, by the name that graphs say: `"approvers.financeLeads"`. A provider's class, or an object. @default none */
  resolvers?: Readonly<Record<string, (abstract new (...args: any[]) => ApproverResolver) | ApproverResolver>>;
  /** How often the approvers of a round may be reminded. @default '1h' */
  remindEvery?: Duration;
}

export interface AuthorizationOptions {
  /**
   * Asked instead of the policies, about every stage with side effects and every operator's call, whether there is an ability for it
   * or not: a provider's class, or an object. It may inject `PolicyStageAuthorizer`, and ask the policies itself. @default the policies
   */
  authorizer?: (abstract new (...args: any[]) => StageAuthorizer) | StageAuthorizer;
  /** The ability to ask about, by `@Stage` id, instead of the stage's own; null = none. */
  abilities?: Readonly<Record<string, string | null>>;
  /**
   * The abilities that operators' calls are asked by: `{ cancel: 'runs.cancel' }`. An operation without one is allowed, unless the
   * app has an authorizer of its own, which gets every call. @default none
   */
  operations?: Readonly<Partial<Record<Operation, string | null>>>;
  /** How long a policy, or the authorizer, may take to answer; past it, what it was asked about is denied. @default '10s' */
  timeout?: Duration;
}

/** The host's ClsService, told by its shape. */
export interface ClsLike {
  get<T = any>(key?: any): T;
  isActive(): boolean;
}
