/**
 * DI tokens and metadata keys. `Symbol.for` and literal strings, not fresh symbols: two copies of the package in one
 * `node_modules` tree are common, and must find each other's classes.
 */

/** The options as the host gave them to `forRoot` or its factory returned them. */
export const WORKFLOW_MODULE_OPTIONS = Symbol.for('nestjs-workflow-engine:module-options');

/** {@link ResolvedWorkflowOptions}: checked, durations in milliseconds, every default filled in. */
export const RESOLVED_WORKFLOW_OPTIONS = Symbol.for('nestjs-workflow-engine:resolved-options');

/** What `WorkflowGuard` asks. */
export const WORKFLOW_ROUTE_ACCESS = Symbol.for('nestjs-workflow-engine:route-access');

/** Every metadata key of ours begins with this; whoever writes `workflow:…` is somebody else. */
export const METADATA_PREFIX = 'nestjs-workflow-engine:';

export const STAGE_METADATA = `${METADATA_PREFIX}stage`;
export const WORKFLOW_METADATA = `${METADATA_PREFIX}workflow`;
export const WORKFLOW_POLICY_METADATA = `${METADATA_PREFIX}policy`;
export const WORKFLOW_SUBJECT_METADATA = `${METADATA_PREFIX}subject`;
export const WORKFLOW_ABILITY_METADATA = `${METADATA_PREFIX}ability`;
export const ON_WORKFLOW_EVENT_METADATA = `${METADATA_PREFIX}on-workflow-event`;
