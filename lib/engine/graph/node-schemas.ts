import { z } from 'zod';
import {
  approvalConfigs,
  branchConfig,
  conditionConfig,
  emitEventConfig,
  endConfig,
  loopConfigs,
  parallelConfig,
  setFieldConfig,
  startWorkflowConfig,
  transitionConfig,
  waitConfigs,
} from './config-schemas.js';
import { escalation } from './escalation-schemas.js';
import { expression, identifier, label, mapping, positiveDuration, retryPolicy } from './schema-parts.js';

const node = { id: identifier, name: label.optional() };
const passed = { ...node, when: expression.optional() };
const waited = { ...passed, escalations: z.array(escalation).max(20).optional() };
const worked = {
  ...waited,
  retry: retryPolicy.optional(),
  timeout: positiveDuration.optional(),
  queue: identifier.optional(),
};
const fed = { ...worked, input: mapping.optional() };

const any = <Schemas extends Readonly<Record<string, z.ZodObject>>>(schemas: Schemas) =>
  z.union(Object.values(schemas) as Schemas[keyof Schemas][]);

/** Nodes by built-in type. What only touches the database has no retry, timeout or queue: it runs where the run moves. */
export const nodeSchemas = {
  condition: z.strictObject({ ...passed, type: z.literal('condition'), config: conditionConfig }),
  branch: z.strictObject({ ...passed, type: z.literal('branch'), config: branchConfig }),
  set_field: z.strictObject({ ...passed, type: z.literal('set_field'), config: setFieldConfig }),
  loop: z.strictObject({ ...passed, type: z.literal('loop'), config: any(loopConfigs) }),
  parallel: z.strictObject({ ...passed, type: z.literal('parallel'), config: parallelConfig }),
  end: z.strictObject({ ...node, type: z.literal('end'), config: endConfig.optional() }),
  wait: z.strictObject({ ...waited, type: z.literal('wait'), config: any(waitConfigs) }),
  approval: z.strictObject({ ...worked, type: z.literal('approval'), config: any(approvalConfigs) }),
  start_workflow: z.strictObject({ ...fed, type: z.literal('start_workflow'), config: startWorkflowConfig }),
  emit_event: z.strictObject({ ...fed, type: z.literal('emit_event'), config: emitEventConfig }),
  transition: z.strictObject({ ...worked, type: z.literal('transition'), config: transitionConfig }),
};

export type BuiltInTypeName = keyof typeof nodeSchemas;

export function isBuiltInType(type: unknown): type is BuiltInTypeName {
  return typeof type === 'string' && Object.hasOwn(nodeSchemas, type);
}

/** A node of a type of the host's, a `@Stage`. */
export const stageNode = z.strictObject({ ...fed, type: identifier, config: z.unknown().optional() });

export const graphNode = z.union([...Object.values(nodeSchemas), stageNode]);
