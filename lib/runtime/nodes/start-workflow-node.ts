import { WorkflowError } from '../../errors/index.js';
import { expressionAt, type NodeBody } from './node-work.js';

interface StartWorkflowConfig {
  readonly workflow: string;
  readonly version?: number;
  readonly wait?: boolean;
  readonly subject?: { readonly type: string };
}

/** `start_workflow`: another run, for the same owner; with `wait` the node ends with it. */
export const startWorkflowNode: NodeBody = async (work) => {
  const { node, ctx, values } = work;
  const { workflow, version, wait = true, subject } = node.config as StartWorkflowConfig;
  const options = {
    ...(version !== undefined && { version }),
    ...(subject && {
      subject: { type: subject.type, id: (await values.fixed('subject', expressionAt(work, 'subject.id'))) as string },
    }),
  };
  if (!wait) return ctx.step.runWorkflow('run', workflow, ctx.input, { ...options, wait: false });
  try {
    return await ctx.step.runWorkflow('run', workflow, ctx.input, options);
  } catch (error) {
    if (!WorkflowError.is(error) || error.code !== 'CHILD_RUN_FAILED' || !node.edges.has('failed')) throw error;
    return ctx.outcome('failed', { code: error.code, message: error.message });
  }
};
