export { OnWorkflowEvent } from './on-workflow-event.decorator.js';
export { Stage } from './stage.decorator.js';
export { Workflow } from './workflow.decorator.js';
export { WorkflowPolicy } from './workflow-policy.decorator.js';
export { WorkflowSubject } from './workflow-subject.decorator.js';
export { WorkflowAbility } from './workflow-ability.decorator.js';
export type { WorkflowAbilityOptions } from './workflow-ability.decorator.js';
