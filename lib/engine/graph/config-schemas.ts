import { z } from 'zod';
import { MAX_APPROVER_ID_LENGTH, MAX_APPROVERS } from '../approvals/index.js';
import { expression, identifier, label, mapping, positiveDuration, subjectReference } from './schema-parts.js';

/** The configs of the built-in node types; a type with several forms has one schema for each, told by the field it is named after. */
export const conditionConfig = z.strictObject({ if: expression });

export const branchConfig = z.strictObject({
  cases: z
    .array(z.strictObject({ outcome: identifier, if: expression }))
    .min(1)
    .max(50),
});

export const setFieldConfig = z.strictObject({ field: z.string().max(300), value: mapping });

const turns = z.union([z.int().min(1), expression], {
  error: 'must be a whole number from 1 on, or an expression that gives one',
});

export const loopConfigs = {
  count: z.strictObject({ count: turns }),
  forEach: z.strictObject({ forEach: expression }),
  while: z.strictObject({ while: expression, max: z.int().min(1).optional() }),
};

export const endConfig = z.strictObject({ outcome: identifier.optional(), output: mapping.optional() });

export const waitConfigs = {
  timer: z.strictObject({ timer: positiveDuration }),
  until: z.strictObject({ until: expression }),
  event: z.strictObject({
    event: z.strictObject({ key: expression, subject: z.boolean().optional(), where: expression.optional() }),
    timeout: positiveDuration.optional(),
  }),
  condition: z.strictObject({
    condition: expression,
    every: positiveDuration.optional(),
    timeout: positiveDuration.optional(),
  }),
};

const approverId = z.string().min(1).max(MAX_APPROVER_ID_LENGTH);
const groupName = z.string().min(1).max(MAX_APPROVER_ID_LENGTH);
const isNotEmpty = (named: object): boolean => Object.keys(named).length > 0;

export const approvalRule = z
  .union(
    [
      z.enum(['any', 'all']),
      z.strictObject({ atLeast: z.int().min(1) }),
      z.strictObject({
        weight: z.number().positive(),
        weights: z.record(z.string(), z.number().min(0)).optional(),
      }),
      z.strictObject({
        perGroup: z.union([z.int().min(1), z.record(groupName, z.int().min(1)).refine(isNotEmpty)]),
      }),
    ],
    {
      error:
        "must be 'any', 'all', { atLeast } with a whole number from 1 on, { weight, weights }, or { perGroup } with how many of each group",
    },
  )
  .describe('Who must agree. In `weights`, who is not named weighs what the approver does, else 1');

const approver = z.union(
  [approverId, z.strictObject({ id: approverId, group: groupName.optional(), weight: z.number().min(0).optional() })],
  { error: 'must be an id, or { id, group, weight }' },
);

const approvers = z
  .union([expression, z.array(approver).max(MAX_APPROVERS)], {
    error: 'must be an expression that gives a list of approvers, or a list of approvers',
  })
  .describe('An expression that gives a list of approvers, or the approvers themselves: ids, or { id, group, weight }');

const approvalPart = { approvers, rule: approvalRule.optional() };

const approvalTerms = {
  expires: positiveDuration.optional(),
  comment: z.enum(['optional', 'required']).optional(),
  ownRequest: z.boolean().optional().describe('Whether who asked may decide. Default: false'),
  delegation: z.boolean().optional().describe('Whether an approver may hand over. Default: true'),
};

export const approvalConfigs = {
  approvers: z.strictObject({ ...approvalPart, ...approvalTerms }),
  stages: z.strictObject({
    stages: z
      .array(z.strictObject({ name: label.optional(), ...approvalPart }))
      .min(1)
      .max(20),
    ...approvalTerms,
  }),
};

export const startWorkflowConfig = z.strictObject({
  workflow: identifier,
  version: z.int().min(1).optional(),
  wait: z.boolean().optional().describe('Whether the node ends with the child. Default: true'),
  subject: subjectReference.optional(),
});

export const emitEventConfig = z.strictObject({ key: expression, subject: z.boolean().optional() });

export const parallelConfig = z.strictObject({
  join: z.enum(['all', 'any', 'taken']),
  branches: z
    .array(z.strictObject({ outcome: identifier, when: expression.optional() }))
    .min(2)
    .max(50),
});

export const transitionConfig = z.strictObject({
  to: identifier,
  lifecycle: identifier.optional(),
  reason: expression.optional(),
});
