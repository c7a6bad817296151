export { AnnotationsService } from './annotations.service.js';
export type { AnnotationPage } from './annotations.service.js';
export { ApprovalsService } from './approvals.service.js';
export type { ApprovalResult, InboxOptions, InboxPage } from './approvals.service.js';
export type { ApprovalCallOptions, DecideOptions } from './approvals/approval-options.js';
export type {
  ApprovalAskView,
  ApprovalStageView,
  ApprovalView,
  ApproverView,
  DecisionView,
} from './approvals/approval-views.js';
export { AuditService } from './audit.service.js';
export type { AuditPage } from './audit.service.js';
export type { ListAuditOptions } from './audit/audit-filter.js';
export type { AuditEntryView } from './audit/audit-view.js';
export { DefinitionsService } from './definitions.service.js';
export type { DefinitionCheck, DefinitionOrRef } from './definitions.service.js';
export type { Published } from './definitions/definition-commands.js';
export type {
  DefinitionRef,
  PublishOptions,
  RetireOptions,
  SaveDraftOptions,
} from './definitions/definition-options.js';
export type { DefinitionPage, ListDefinitionsOptions } from './definitions/definition-reader.js';
export type { DefinitionDetails, DefinitionView } from './definitions/definition-views.js';
export type { TriggerView } from './definitions/trigger-views.js';
export type { DryProblem, DryRun, DryStep } from '../engine/dry-run/index.js';
export type { WorkflowTemplate } from '../engine/templates/index.js';
export type { TemplateView } from './definitions/templates.js';
export type { DryRunOptions } from './dry-run/dry-run-options.js';
export type { DeadLetter } from './events/dead-letters.js';
export type { ListAnnotationsOptions } from './runs/annotation-filter.js';
export { RunAccess } from './runs/run-access.js';
export type { CommandOptions, ReasonedOptions } from './runs/run-access.js';
export type { ResultOptions } from './runs/run-results.js';
export type {
  AnnotationView,
  AttemptView,
  ListRunsOptions,
  LogLineView,
  ProgressView,
  RunFailureView,
  RunHistoryView,
  RunPage,
  RunSummary,
  RunView,
  EscalationView,
  StageRunView,
  StepView,
} from './runs/run-views.js';
export { WakeService } from './wake.service.js';
export type { WakeReport } from '../runtime/wake/wake-report.js';
export { WorkflowHost } from './workflow-host.js';
export type { ProcessOptions } from './workflow-host.js';
export type { DeliveredJob, ProcessReport } from '../runtime/worker/job-pump.js';
export { WorkflowOperator } from './workflow-operator.js';
export { WorkflowService } from './workflow.service.js';
export type { StartManyItem, StartManyOptions } from './workflow.service.js';
