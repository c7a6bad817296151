export { DefinitionRegistry } from './definition-registry.js';
export type { ServingCheck } from './definition-registry.js';
export type { FoundPolicy } from './found-policy.js';
export { HandlerResolver } from './handler-resolver.js';
export { LazyModules } from './lazy-modules.js';
export type { FoundProvider } from './provider-wrapper.js';
export type { ServedDefinition, StageType } from './served-definition.js';
export { WorkflowExplorer } from './workflow-explorer.js';
export type { FoundClass, FoundEventHandler } from './workflow-explorer.js';
