import type { z } from 'zod';
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
import { checkApproval } from './check-approval.js';
import { checkFieldPath } from './field-path.js';
import { checkNames, type ConfigCheck } from './config-check.js';
import type { ExpressionSite, MappingSite } from './expression-site.js';
import type { BuiltInTypeName } from './node-schemas.js';
import { DONE, outcome, type Outcome } from './outcome.js';

/** What a built-in type says of a node by its config. */
export interface BuiltInType {
  /** By the field that tells which form it is; one without a name where there is only one form. */
  readonly forms: Readonly<Record<string, z.ZodType>>;
  readonly outcomes: (config: never) => readonly Outcome[];
  readonly expressions: (config: never) => readonly ExpressionSite[];
  readonly mappings: (config: never) => readonly MappingSite[];
  /** What the schema cannot say. */
  readonly check: (config: never, check: ConfigCheck) => void;
}

/** The name of the only form. */
export const ONLY = '';

const nothing = (): readonly [] => [];
const done: readonly Outcome[] = [outcome(DONE, { main: true })];

function type<Forms extends Readonly<Record<string, z.ZodType>>>(
  forms: Forms,
  of: {
    outcomes?: (config: z.output<Forms[keyof Forms]>) => readonly Outcome[];
    expressions?: (config: z.output<Forms[keyof Forms]>) => readonly ExpressionSite[];
    mappings?: (config: z.output<Forms[keyof Forms]>) => readonly MappingSite[];
    check?: (config: z.output<Forms[keyof Forms]>, check: ConfigCheck) => void;
  } = {},
): BuiltInType {
  return { forms, outcomes: () => done, expressions: nothing, mappings: nothing, check: nothing, ...of };
}

/** The built-in node types: which outcomes they have, and where their configs hold expressions. */
export const BUILT_IN_TYPES: Readonly<Record<BuiltInTypeName, BuiltInType>> = {
  condition: type(
    { [ONLY]: conditionConfig },
    {
      outcomes: () => [outcome('true'), outcome('false')],
      expressions: (config) => [{ path: ['if'], text: config.if, gives: 'bool' }],
    },
  ),
  branch: type(
    { [ONLY]: branchConfig },
    {
      outcomes: ({ cases }) => [...cases.map((one) => outcome(one.outcome)), outcome('else')],
      expressions: ({ cases }) =>
        cases.map((one, at) => ({ path: ['cases', at, 'if'], text: one.if, gives: 'bool' as const })),
      check: ({ cases }, check) => checkNames('cases', cases, ['else'], check),
    },
  ),
  set_field: type(
    { [ONLY]: setFieldConfig },
    {
      mappings: ({ value }) => [{ path: ['value'], mapping: value }],
      check: ({ field }, check) => checkFieldPath(field, check),
    },
  ),
  loop: type(loopConfigs, {
    outcomes: () => [outcome('each', { body: true }), outcome(DONE, { main: true })],
    expressions: (config) => {
      if ('forEach' in config) return [{ path: ['forEach'], text: config.forEach, gives: 'list' }];
      if ('while' in config) return [{ path: ['while'], text: config.while, gives: 'bool' }];
      return typeof config.count === 'number' ? [] : [{ path: ['count'], text: config.count, gives: 'count' }];
    },
    check: (config, { turns }) => {
      if ('while' in config && config.max !== undefined) turns(config.max, ['max']);
      if ('count' in config && typeof config.count === 'number') turns(config.count, ['count']);
    },
  }),
  parallel: type(
    { [ONLY]: parallelConfig },
    {
      outcomes: ({ branches }) => [
        ...branches.map((branch) => outcome(branch.outcome, { body: true })),
        outcome(DONE, { main: true }),
      ],
      expressions: ({ branches }) =>
        branches.flatMap(({ when }, at) =>
          when === undefined ? [] : [{ path: ['branches', at, 'when'], text: when, gives: 'bool' as const }],
        ),
      check: ({ branches, join }, check) => {
        checkNames('branches', branches, [DONE], check);
        if (join !== 'all') return;
        branches.forEach(({ when }, at) => {
          if (when !== undefined)
            check.misfit(`"when" leaves the branch out, and join "all" waits for it; use join "taken"`, [
              'branches',
              at,
              'when',
            ]);
        });
      },
    },
  ),
  end: type(
    { [ONLY]: endConfig },
    {
      outcomes: nothing,
      mappings: (config) => (config.output === undefined ? [] : [{ path: ['output'], mapping: config.output }]),
    },
  ),
  wait: type(waitConfigs, {
    outcomes: (config) => [
      outcome(DONE, { main: true }),
      ...('timeout' in config && config.timeout !== undefined ? [outcome('timeout', { required: false })] : []),
    ],
    expressions: (config) => {
      if ('until' in config) return [{ path: ['until'], text: config.until, gives: 'instant' }];
      if ('condition' in config) return [{ path: ['condition'], text: config.condition, gives: 'bool' }];
      if (!('event' in config)) return [];
      const { key, where } = config.event;
      return [
        { path: ['event', 'key'], text: key, gives: 'text' },
        ...(where === undefined
          ? []
          : [{ path: ['event', 'where'], text: where, gives: 'bool' as const, speaksOf: 'event' as const }]),
      ];
    },
  }),
  approval: type(approvalConfigs, {
    outcomes: ({ expires }) => [
      outcome('approved'),
      outcome('rejected'),
      ...(expires === undefined ? [] : [outcome('expired', { required: false })]),
    ],
    expressions: (config) => {
      if ('approvers' in config) return peopleSites(config.approvers, ['approvers']);
      return config.stages.flatMap(({ approvers }, at) => peopleSites(approvers, ['stages', at, 'approvers']));
    },
    check: checkApproval,
  }),
  start_workflow: type(
    { [ONLY]: startWorkflowConfig },
    {
      outcomes: ({ wait = true }) => [...done, ...(wait ? [outcome('failed', { required: false })] : [])],
      expressions: ({ subject }) =>
        subject === undefined ? [] : [{ path: ['subject', 'id'], text: subject.id, gives: 'text' }],
      check: ({ workflow }, check) => check.workflow(workflow, ['workflow']),
    },
  ),
  emit_event: type(
    { [ONLY]: emitEventConfig },
    { expressions: ({ key }) => [{ path: ['key'], text: key, gives: 'text' }] },
  ),
  transition: type(
    { [ONLY]: transitionConfig },
    {
      outcomes: () => [...done, outcome('denied', { required: false })],
      expressions: ({ reason }) => (reason === undefined ? [] : [{ path: ['reason'], text: reason, gives: 'text' }]),
    },
  ),
};

/** Ids that are written out are no expression. */
export function peopleSites(people: unknown, path: ExpressionSite['path']): readonly ExpressionSite[] {
  return typeof people === 'string' ? [{ path, text: people, gives: 'list', speaksOf: 'people' }] : [];
}
