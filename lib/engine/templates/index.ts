export { BUILT_IN_TEMPLATES } from './built-in-templates.js';
export { fillTemplate } from './fill-template.js';
export type { WorkflowTemplate } from './template.js';
