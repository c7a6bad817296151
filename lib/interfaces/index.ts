export type {
  EmitEvent,
  EmitResult,
  RerunOptions,
  RerunResult,
  SignalOptions,
  SignalResult,
  TouchOptions,
  TouchResult,
} from './commands.js';
export type { CompletionCheck } from './completion-check.js';
export type { Branch, Flow, NodeOptions, NodeSettings, ParallelOptions, WhenInput } from './flow.js';
export type {
  AuthorizationRequest,
  OperatedRun,
  OperationAuthorization,
  OperationPolicy,
  RequestAuthorization,
  DefinitionAuthorization,
  ApprovalOperation,
  DefinitionOperation,
  Operation,
  RunOperation,
} from './operation-authorization.js';
export type { ApprovalOutput } from './approval-output.js';
export type { ApproverContext, ApproverResolver } from './approver-resolver.js';
export type { OwnerContext } from './owner-context.js';
export type { RunHandle, StartOptions, StartResult, TransactionManager } from './run-handle.js';
export type { Outcome } from './outcome.js';
export type { Skipped } from './skipped.js';
export type { AnnotateOptions, LogLevel, RunInfo, StageContext, StageInfo } from './stage-context.js';
export type { ConfigOf, InputOf, OutputOf, PresentOutputOf, StageClass, StageHandler } from './stage-handler.js';
export type {
  AsyncPolicyAnswer,
  ObservableAnswer,
  PolicyAnswer,
  StageAuthorization,
  StageAuthorizer,
  StagePolicy,
  WorkflowPolicyOptions,
} from './stage-authorization.js';
export type { StageOptions } from './stage-options.js';
export type { Schema, StageSchemas } from './stage-schemas.js';
export type { Polled, StartedChild, StepApi } from './step-api.js';
export type {
  ChildOptions,
  DetachChild,
  EventWaitOptions,
  PollOptions,
  ReturnOnTimeout,
  SignalWaitOptions,
  StepAllOptions,
  StepBodyContext,
  StepRunOptions,
  ThrowOnTimeout,
  TimedResult,
  TransactionOptions,
  WaitForChild,
} from './step-options.js';
export type { NotStorable, Stored } from './stored.js';
export type {
  LifecycleAdapter,
  SetFieldRequest,
  SubjectChange,
  SubjectLifecycle,
  TransitionAnswer,
  TransitionRequest,
} from './lifecycle.js';
export type { SubjectLoadContext, SubjectResolver, WorkflowSubjectOptions } from './subject.js';
export type { SuspendOptions, Suspended } from './suspended.js';
export type { WorkflowBlueprint, WorkflowClass, WorkflowInput, WorkflowOutput } from './workflow-blueprint.js';
export type {
  EventData,
  StageRunRef,
  WorkflowEvent,
  WorkflowEventData,
  WorkflowEventOf,
  WorkflowEventType,
  ApprovalEventData,
  DefinitionEventData,
  RunEventType,
  RunRef,
} from './workflow-event.js';
export type { WorkflowModuleAsyncOptions, WorkflowOptionsFactory } from './workflow-module-async-options.js';
export type {
  ApprovalOptions,
  AuthorizationOptions,
  ClsLike,
  DataSourceLike,
  EventOptions,
  TriggerOptions,
  IdempotencyOptions,
  LeaseOptions,
  LimitOptions,
  ModuleRetryOptions,
  OutboxOptions,
  OwnerOptions,
  RowLevelSecurityOptions,
  QueueOptions,
  SubjectOptions,
  WakeOptions,
  WorkerOptions,
  WorkflowModuleOptions,
} from './workflow-module-options.js';
export type { DefinitionLimits, WorkflowOptions } from './workflow-options.js';
