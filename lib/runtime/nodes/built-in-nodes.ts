import type { RuntimeStageType } from '../execution/definition-source.js';
import { approvalNode } from './approval-node.js';
import { emitEventNode } from './emit-event-node.js';
import type { BuiltInNode, NodeBody } from './node-work.js';
import { ownType } from './own-type.js';
import { passedNode } from './passed-node.js';
import { setFieldNode } from './set-field-node.js';
import { startWorkflowNode } from './start-workflow-node.js';
import { transitionNode } from './transition-node.js';
import { waitNode } from './wait-node.js';

const quiet = (execute: NodeBody): BuiltInNode => ({ execute, sideEffect: false });
const outward = (execute: NodeBody): BuiltInNode => ({ execute, sideEffect: true });

/** The node types that the engine knows what to do with, by name. */
const NODES: Readonly<Record<string, BuiltInNode>> = {
  condition: quiet(passedNode),
  branch: quiet(passedNode),
  loop: quiet(passedNode),
  parallel: quiet(passedNode),
  end: quiet(passedNode),
  wait: quiet(waitNode),
  approval: quiet(approvalNode),
  start_workflow: outward(startWorkflowNode),
  emit_event: outward(emitEventNode),
  set_field: outward(setFieldNode),
  transition: outward(transitionNode),
};

const TYPES: ReadonlyMap<string, RuntimeStageType> = new Map(
  Object.entries(NODES).map(([id, { sideEffect }]) => [id, ownType(id, sideEffect)]),
);

/** What the runtime needs to know of a built-in node type, as of a `@Stage`. */
export function builtInType(type: string): RuntimeStageType | undefined {
  return TYPES.get(type);
}

/** What is to be done at a node of this type. */
export function builtInNode(type: string): BuiltInNode | undefined {
  return Object.hasOwn(NODES, type) ? NODES[type] : undefined;
}
