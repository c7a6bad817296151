export {
  AuthorizationDeniedError,
  DispatcherDeniedError,
  OwnerContextMisusedError,
  OwnerMismatchError,
  FieldNotWritableError,
  OwnerRequiredError,
  TransitionDeniedError,
  RoleNotRestrictedError,
  RowPoliciesMissingError,
  SubjectMissingError,
} from './access.errors.js';
export type {
  AuthorizationDeniedParams,
  DispatcherDeniedParams,
  OwnerContextMisusedParams,
  OwnerMismatchParams,
  OwnerRequiredParams,
  RoleNotRestrictedParams,
  RowPoliciesMissingParams,
  SubjectMissingParams,
} from './access.errors.js';
export {
  AlreadyDecidedError,
  ApprovalCannotPassError,
  ApprovalNotFoundError,
  ApproverUnknownError,
  CommentRequiredError,
  DelegationRefusedError,
  InvalidApproversError,
  NoApproversError,
  NotAnApproverError,
  NothingToWithdrawError,
  RemindedTooSoonError,
  RoundClosedError,
  SeatDecidedError,
  StageUnclearError,
  UnknownApproversError,
} from './approval.errors.js';
export type {
  AlreadyDecidedParams,
  ApprovalCannotPassParams,
  ApprovalNotFoundParams,
  ApproverUnknownParams,
  CommentRequiredParams,
  DelegationRefusedParams,
  InvalidApproversParams,
  NoApproversParams,
  NotAnApproverParams,
  NothingToWithdrawParams,
  RemindedTooSoonParams,
  RoundClosedParams,
  SeatDecidedParams,
  StageUnclearParams,
  UnknownApproversParams,
} from './approval.errors.js';
export { NoRecipientsError, RoundNotOpenedError } from './escalation.errors.js';
export type { NoRecipientsParams, RoundNotOpenedParams } from './escalation.errors.js';
export { ERROR_CODES, findErrorCode, formatMessage } from './catalogue.js';
export type { ErrorCode, MessageOverrides } from './catalogue.js';
export type { ErrorCodeEntry } from './codes/error-code-entry.js';
export {
  DefinitionDriftError,
  ForeignDecoratorError,
  InvalidDefinitionError,
  UnknownWorkflowError,
  WorkflowNotServedError,
} from './definition.errors.js';
export type {
  DefinitionComplaint,
  DefinitionDriftParams,
  ForeignDecoratorParams,
  InvalidDefinitionParams,
  UnknownWorkflowParams,
  WorkflowNotServedParams,
} from './definition.errors.js';
export { InvalidEventError, InvalidWhereError } from './event.errors.js';
export type { InvalidEventParams, InvalidWhereParams } from './event.errors.js';
export {
  DraftConflictError,
  GraphNotFoundError,
  InvalidExpressionError,
  InvalidGraphError,
  SharedGraphError,
} from './graph.errors.js';
export type {
  DraftConflictParams,
  GraphFault,
  GraphNotFoundParams,
  InvalidExpressionParams,
  InvalidGraphParams,
  SharedGraphParams,
} from './graph.errors.js';
export { LEASE_HEARTBEAT_LOST, LeaseAbsoluteCapError, LeaseExpiredError } from './lease.errors.js';
export type { LeaseAbsoluteCapParams, LeaseExpiredParams } from './lease.errors.js';
export { LimitExceededError } from './limit.errors.js';
export type { LimitCode, LimitExceededParams } from './limit.errors.js';
export { DataSourceNotFoundError, InvalidDurationError, InvalidOptionsError } from './options.errors.js';
export type {
  DataSourceNotFoundParams,
  InvalidDurationParams,
  InvalidOptionsParams,
  OptionProblem,
} from './options.errors.js';
export {
  AmbiguousStageError,
  InvalidConfigError,
  InvalidInputError,
  InvalidOutputError,
  OutputMissingError,
  UnreadablePayloadError,
} from './payload.errors.js';
export type {
  AmbiguousStageParams,
  InvalidConfigParams,
  InvalidInputParams,
  InvalidOutputParams,
  OutputMissingParams,
  SchemaIssue,
  UnreadablePayloadParams,
} from './payload.errors.js';
export {
  isShuttingDown,
  ResultTimeoutError,
  RunCancelledError,
  RunFailedError,
  ShuttingDownError,
} from './result.errors.js';
export type { ResultTimeoutParams, RunCancelledParams, RunFailedParams, ShuttingDownParams } from './result.errors.js';
export {
  IdempotencyConflictError,
  RunEndedError,
  RunNotCancellableError,
  RunNotFoundError,
  RunNotMigratableError,
  RunNotRerunnableError,
  RunNotRetryableError,
  UndefinedIdError,
} from './run.errors.js';
export type {
  IdempotencyConflictParams,
  RunEndedParams,
  RunNotCancellableParams,
  RunNotFoundParams,
  RunNotMigratableParams,
  RunNotRerunnableParams,
  RunNotRetryableParams,
  UndefinedIdParams,
} from './run.errors.js';
export {
  ConditionFailedError,
  ExpressionFailedError,
  StageAbortedError,
  StageTimeoutError,
  UnknownOutcomeError,
} from './stage.errors.js';
export type {
  ConditionFailedParams,
  StageAbortReason,
  StageAbortedParams,
  StageTimeoutParams,
} from './stage.errors.js';
export {
  ChildNotStartedError,
  ChildRunError,
  InvalidStepError,
  NoCompletionCheckError,
  StepMismatchError,
  StepNestedError,
  WaitTimeoutError,
} from './step.errors.js';
export type {
  ChildNotStartedParams,
  ChildRunParams,
  InvalidStepParams,
  NoCompletionCheckParams,
  StepMismatchParams,
  StepNestedParams,
  WaitTimeoutParams,
} from './step.errors.js';
export {
  MigrationsBehindError,
  StoreUnavailableError,
  TransactionRequiredError,
  UnsupportedDatabaseError,
} from './store.errors.js';
export type {
  MigrationsBehindParams,
  StoreUnavailableParams,
  TransactionRequiredParams,
  UnsupportedDatabaseParams,
} from './store.errors.js';
export { closestName } from './suggestion.js';
export { NonRetryableError, RetryAfterError, StageFailedError } from './thrown.errors.js';
export { WorkflowError } from './workflow.error.js';
export type { WorkflowErrorOptions } from './workflow.error.js';
