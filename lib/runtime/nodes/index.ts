export type { ApprovalHost, RoundResult } from './approval-host.js';
export { actionBody, actionType } from './escalation-actions.js';
export { builtInNode, builtInType } from './built-in-nodes.js';
export { NodeValues } from './node-values.js';
export type { SubjectWriter } from './subject-writer.js';
export type { NodeEvent, NodeHost, NodeWork } from './node-work.js';
