import { expressionAt, type NodeBody } from './node-work.js';

/** `emit_event`: tells waits, and triggers, of the same owner. Once for a visit, however often its attempts are repeated. */
export const emitEventNode: NodeBody = async (work) => {
  const { node, ctx, values, host } = work;
  const { subject: about = false } = node.config as { readonly subject?: boolean };
  const key = (await values.evaluate(expressionAt(work, 'key'))) as string;
  const subject = about ? ctx.run.subject : null;
  await host.emit({ key, payload: ctx.input, subject, messageId: `node ${ctx.stage.runId}` });
  return { key };
};
