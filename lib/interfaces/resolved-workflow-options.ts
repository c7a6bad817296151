import type { WorkflowTemplate } from '../engine/templates/index.js';
import type { MessageOverrides } from '../errors/index.js';
import type { CompiledLimits } from '../engine/limits/limits.js';
import type { JobTransport } from '../engine/ports/index.js';
import type { CompiledRetryPolicy } from '../engine/retry/retry-policy.js';
import type { ApproverResolver } from './approver-resolver.js';
import type { OwnerContext } from './owner-context.js';
import type { Operation } from './operation-authorization.js';
import type { StageAuthorizer } from './stage-authorization.js';
import type { LifecycleAdapter } from './lifecycle.js';
import type { SubjectResolver } from './subject.js';
import type {
  ApprovalOptions,
  DataSourceLike,
  OwnerOptions,
  RowLevelSecurityOptions,
} from './workflow-module-options.js';

/** {@link WorkflowModuleOptions} as the engine works with them: checked, in milliseconds, nothing left open. Frozen. */
export interface ResolvedWorkflowOptions {
  /** Null = the unnamed DataSource. */
  readonly dataSource: string | DataSourceLike | null;
  /** Null = the DataSource's. */
  readonly schema: string | null;
  readonly tablePrefix: string;
  readonly migrations: 'run' | 'check' | 'none';
  /** Null = this process executes nothing. */
  readonly worker: ResolvedWorkerOptions | null;
  /** Null = the worker claims from the database. */
  readonly transport: JobTransport | null;
  readonly queue: { readonly default: string };
  readonly lease: {
    readonly heartbeatIntervalMs: number;
    readonly staleThresholdMs: number;
    /** 0 = none. */
    readonly absoluteTimeoutMs: number;
    readonly maxLosses: number;
  };
  readonly retry: { readonly policy: CompiledRetryPolicy; readonly maxAttemptsCap: number };
  readonly limits: CompiledLimits;
  readonly shutdownGraceMs: number;
  readonly stuckAfterMs: number;
  readonly requeueAfterMs: number;
  readonly versionDeferDelayMs: number;
  readonly wake: {
    /** Null = only when somebody calls `wake()`. */
    readonly everyMs: number | null;
    readonly batch: number;
    readonly claimTtlMs: number;
  };
  readonly idempotency: { readonly ttlMs: number; readonly strict: boolean };
  readonly events: { readonly retentionMs: number };
  readonly templates: readonly WorkflowTemplate[];
  readonly triggers: {
    readonly maxDepth: number;
    readonly allowCycles: boolean;
    readonly entities: readonly (Function | string)[];
  };
  /** `policy.maxAttempts` tries, then dead letter. */
  readonly outbox: { readonly policy: CompiledRetryPolicy };
  readonly owners: {
    readonly resolve: OwnerOptions['resolve'] | null;
    readonly load: OwnerOptions['load'] | null;
    /** A class: what to look for among the app's providers. */
    readonly context: Function | OwnerContext | null;
    /** `switch`: the app's role takes the dispatcher's. Null = off. */
    readonly rowLevelSecurity: 'switch' | RowLevelSecurityOptions | null;
  };
  /** By type. A class: what to look for among the app's providers. */
  readonly subjects: {
    readonly resolvers: Readonly<Record<string, Function | SubjectResolver>>;
    readonly lifecycles: Readonly<Record<string, Function | LifecycleAdapter>>;
    readonly autoTouch: boolean;
  };
  readonly approvals: {
    readonly actorId: ApprovalOptions['actorId'] | null;
    /** By name. A class: what to look for among the app's providers. */
    readonly resolvers: Readonly<Record<string, Function | ApproverResolver>>;
    readonly remindEveryMs: number;
  };
  readonly authorization: {
    /** A class: what to look for among the app's providers. Null = the policies alone. */
    readonly authorizer: Function | StageAuthorizer | null;
    readonly abilities: Readonly<Record<string, string | null>>;
    readonly operations: Readonly<Record<Operation, string | null>>;
    readonly timeoutMs: number;
  };
  readonly systemActor: (() => unknown) | null;
  readonly messages: MessageOverrides;
  readonly onDrift: 'refuse' | 'warn';
  readonly foreignDecorators: 'refuse' | 'ignore';
}

export interface ResolvedWorkerOptions {
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  /** Null = every queue. */
  readonly queues: readonly string[] | null;
  readonly notify: boolean;
  /** Null = where the DataSource connects to. */
  readonly listenUrl: string | null;
}
