import type { EntitySchema } from 'typeorm';
import { tableNames } from '../table-names.js';
import type { WorkflowTablesOptions } from '../table-names.js';
import { annotationEntity } from './annotation.js';
import { approvalAskEntity, approvalDecisionEntity, approvalRoundEntity } from './approval.js';
import { attemptEntity } from './attempt.js';
import { auditEntryEntity } from './audit-entry.js';
import { definitionEntity } from './definition.js';
import { eventEntity } from './event.js';
import { graphEntity } from './graph.js';
import { idempotencyKeyEntity } from './idempotency-key.js';
import { jobEntity } from './job.js';
import { logLineEntity } from './log-line.js';
import { nodeVisitEntity } from './node-visit.js';
import { outboxEntity } from './outbox-entry.js';
import { outboxSlotEntity } from './outbox-slot.js';
import { runEntity } from './run.js';
import { schemaVersionEntity } from './schema-version.js';
import { stageRunEntity } from './stage-run.js';
import { startRateEntity } from './start-rate.js';
import { stepEntity } from './step.js';
import { triggerEntity } from './trigger.js';

export type { WorkflowAnnotationEntity } from './annotation.js';
export type {
  WorkflowApprovalAskEntity,
  WorkflowApprovalDecisionEntity,
  WorkflowApprovalRoundEntity,
} from './approval.js';
export type { WorkflowAttemptEntity } from './attempt.js';
export type { WorkflowAuditEntryEntity } from './audit-entry.js';
export type { WorkflowDefinitionEntity } from './definition.js';
export type { WorkflowEventEntity } from './event.js';
export type { WorkflowGraphEntity } from './graph.js';
export type { WorkflowIdempotencyKeyEntity } from './idempotency-key.js';
export type { WorkflowJobEntity } from './job.js';
export type { WorkflowLogLineEntity } from './log-line.js';
export type { WorkflowNodeVisitEntity } from './node-visit.js';
export type { WorkflowOutboxEntity } from './outbox-entry.js';
export type { WorkflowOutboxSlotEntity } from './outbox-slot.js';
export type { WorkflowRunEntity } from './run.js';
export type { WorkflowSchemaVersionEntity } from './schema-version.js';
export type { WorkflowStageRunEntity } from './stage-run.js';
export type { WorkflowStartRateEntity } from './start-rate.js';
export type { WorkflowStepEntity } from './step.js';
export type { WorkflowTriggerEntity } from './trigger.js';

/**
 * The engine's tables as TypeORM entities, for hosts that query them:
 * `dataSource.getRepository<WorkflowRunEntity>('WorkflowRun')`.
 *
 * For reading. They never take part in `synchronize` or `migration:generate`: the tables come from the migrations. Don't
 * combine them with an `entityPrefix` or a naming strategy that renames what has a name.
 *
 * @throws InvalidOptionsError for a schema or prefix that is no plain identifier
 * @publicApi
 */
export function createWorkflowEntities({ schema, tablePrefix }: WorkflowTablesOptions = {}): EntitySchema[] {
  const names = tableNames({ schema, prefix: tablePrefix });
  return [
    runEntity(names),
    stageRunEntity(names),
    nodeVisitEntity(names),
    attemptEntity(names),
    jobEntity(names),
    idempotencyKeyEntity(names),
    outboxEntity(names),
    outboxSlotEntity(names),
    definitionEntity(names),
    schemaVersionEntity(names),
    stepEntity(names),
    eventEntity(names),
    annotationEntity(names),
    logLineEntity(names),
    auditEntryEntity(names),
    startRateEntity(names),
    graphEntity(names),
    approvalRoundEntity(names),
    approvalAskEntity(names),
    approvalDecisionEntity(names),
    triggerEntity(names),
  ] as EntitySchema[];
}
