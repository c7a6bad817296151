// The module
export { WorkflowModule } from './workflow.module.js';

// Decorators
export { OnWorkflowEvent, Stage, Workflow } from './decorators/index.js';

// Services
export { RunAccess, WakeService, WorkflowHost, WorkflowOperator, WorkflowService } from './services/index.js';
export type {
  AttemptView,
  CommandOptions,
  DeadLetter,
  DeliveredJob,
  ListRunsOptions,
  ProcessOptions,
  ProcessReport,
  ResultOptions,
  RunFailureView,
  RunHistoryView,
  RunPage,
  RunSummary,
  RunView,
  StageRunView,
  StartManyItem,
  StartManyOptions,
  WakeReport,
} from './services/index.js';

// Context
export { WorkflowContext } from './context/index.js';
export type { CurrentRun, CurrentStage } from './context/index.js';

// Interfaces
export type {
  AnnotateOptions,
  Branch,
  ChildOptions,
  ClsLike,
  CompletionCheck,
  ConfigOf,
  DataSourceLike,
  DefinitionLimits,
  DetachChild,
  EmitEvent,
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
  OutboxOptions,
  OutputOf,
  OwnerOptions,
  ParallelOptions,
  PollOptions,
  Polled,
  PresentOutputOf,
  QueueOptions,
  RerunOptions,
  ReturnOnTimeout,
  RunHandle,
  RunInfo,
  Schema,
  SignalOptions,
  SignalWaitOptions,
  Skipped,
  StageClass,
  StageContext,
  StageHandler,
  StageInfo,
  StageOptions,
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
  ResultTimeoutError,
  RetryAfterError,
  RunCancelledError,
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
export type { WorkflowTablesOptions } from './persistence/table-names.js';
