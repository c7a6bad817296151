export { Asking } from './asking.js';
export { AuthorizerGate, type GetAuthorizer } from './authorizer-gate.js';
export { AuthorizerOperationGate } from './authorizer-operation-gate.js';
export { deny } from './deny.js';
export { PolicyRegistry } from './policy-registry.js';
export { PolicyStageAuthorizer } from './policy-stage-authorizer.js';
export { policyRequest } from './question.js';
export { WorkflowGuard } from './workflow.guard.js';
