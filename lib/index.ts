// The module
export { WorkflowModule } from './workflow.module.js';

// Decorators
export { OnWorkflowEvent, Stage, Workflow, WorkflowPolicy } from './decorators/index.js';

// Services
export {
  AnnotationsService,
  RunAccess,
  WakeService,
  WorkflowHost,
  WorkflowOperator,
  WorkflowService,
} from './services/index.js';
export type {
  AnnotationPage,
  AnnotationView,
  AttemptView,
  CommandOptions,
  DeadLetter,
  DeliveredJob,
  ListAnnotationsOptions,
  ListRunsOptions,
  LogLineView,
  ProcessOptions,
  ProcessReport,
  ProgressView,
  ResultOptions,
  RunFailureView,
  RunHistoryView,
  RunPage,
  RunSummary,
  RunView,
  StageRunView,
  StartManyItem,
  StartManyOptions,
  StepView,
  WakeReport,
} from './services/index.js';

// Authorization
export { deny, PolicyStageAuthorizer } from './authorization/index.js';

// Context
export { WorkflowContext } from './context/index.js';
export type { CurrentRun, CurrentStage } from './context/index.js';

// Interfaces
export type {
  AnnotateOptions,
  AsyncPolicyAnswer,
  AuthorizationOptions,
  Branch,
  ChildOptions,
  ClsLike,
  CompletionCheck,
  ConfigOf,
  DataSourceLike,
  DefinitionLimits,
  DetachChild,
  EmitEvent,
  EmitResult,
  EventData,
  EventOptions,
  EventWaitOptions,
  Flow,
  IdempotencyOptions,
  InputOf,
  LeaseOptions,
  LimitOptions,
  LogLevel,
  ModuleRetryOptions,
  NodeOptions,
  NodeSettings,
  NotStorable,
  ObservableAnswer,
  OutboxOptions,
  OutputOf,
  OwnerOptions,
  ParallelOptions,
  PolicyAnswer,
  PollOptions,
  Polled,
  PresentOutputOf,
  QueueOptions,
  RerunOptions,
  RerunResult,
  ReturnOnTimeout,
  RunHandle,
  RunInfo,
  Schema,
  SignalOptions,
  SignalResult,
  SignalWaitOptions,
  Skipped,
  StageAuthorization,
  StageAuthorizer,
  StageClass,
  StageContext,
  StageHandler,
  StageInfo,
  StageOptions,
  StagePolicy,
  StageRunRef,
  StageSchemas,
  StartOptions,
  StartResult,
  StartedChild,
  StepAllOptions,
  StepApi,
  StepBodyContext,
  StepRunOptions,
  Stored,
  SuspendOptions,
  Suspended,
  ThrowOnTimeout,
  TimedResult,
  TransactionManager,
  TransactionOptions,
  WaitForChild,
  WakeOptions,
  WhenInput,
  WorkerOptions,
  WorkflowBlueprint,
  WorkflowClass,
  WorkflowEvent,
  WorkflowEventData,
  WorkflowEventOf,
  WorkflowEventType,
  WorkflowInput,
  WorkflowModuleAsyncOptions,
  WorkflowModuleOptions,
  WorkflowOptions,
  WorkflowOptionsFactory,
  WorkflowOutput,
  WorkflowPolicyOptions,
} from './interfaces/index.js';

// Ports that hosts may fulfil
export type { GhostReason, HandleJob, JobAnswer, JobConsumer, JobMessage, JobTransport } from './engine/ports/index.js';
export type { SubjectName } from './engine/ports/index.js';

// Engine: words of its data
export { RUN_STATUSES, STAGE_RUN_STATUSES } from './engine/state/statuses.js';
export type { RunStatus, StageRunStatus } from './engine/state/statuses.js';
export type { Duration } from './engine/time/index.js';
export type { RetryPolicy } from './engine/retry/index.js';

// Errors
export {
  AmbiguousStageError,
  AuthorizationDeniedError,
  ChildNotStartedError,
  ChildRunError,
  ConditionFailedError,
  DataSourceNotFoundError,
  DefinitionDriftError,
  DispatcherDeniedError,
  ERROR_CODES,
  ForeignDecoratorError,
  IdempotencyConflictError,
  InvalidConfigError,
  InvalidDefinitionError,
  InvalidDurationError,
  InvalidEventError,
  InvalidInputError,
  InvalidOptionsError,
  InvalidOutputError,
  InvalidStepError,
  InvalidWhereError,
  LeaseAbsoluteCapError,
  LeaseExpiredError,
  LimitExceededError,
  MigrationsBehindError,
  NoCompletionCheckError,
  NonRetryableError,
  OutputMissingError,
  OwnerMismatchError,
  OwnerRequiredError,
  ResultTimeoutError,
  RetryAfterError,
  RoleNotRestrictedError,
  RowPoliciesMissingError,
  RunCancelledError,
  RunEndedError,
  RunFailedError,
  RunNotCancellableError,
  RunNotFoundError,
  RunNotMigratableError,
  RunNotRerunnableError,
  RunNotRetryableError,
  ShuttingDownError,
  StageAbortedError,
  StageFailedError,
  StageTimeoutError,
  StepMismatchError,
  StepNestedError,
  StoreUnavailableError,
  SubjectMissingError,
  TransactionRequiredError,
  UndefinedIdError,
  UnknownWorkflowError,
  UnreadablePayloadError,
  UnsupportedDatabaseError,
  WaitTimeoutError,
  WorkflowError,
  WorkflowNotServedError,
  formatMessage,
} from './errors/index.js';
export type {
  ErrorCode,
  ErrorCodeEntry,
  MessageOverrides,
  SchemaIssue,
  StageAbortReason,
  WorkflowErrorOptions,
} from './errors/index.js';

// Persistence: for hosts that run migrations themselves, or query the tables
export { createWorkflowEntities } from './persistence/entities/index.js';
export { createWorkflowMigrations } from './persistence/migrations/index.js';
export type { WorkflowMigrationsOptions } from './persistence/migrations/index.js';
export type { WorkflowTablesOptions } from './persistence/table-names.js';
