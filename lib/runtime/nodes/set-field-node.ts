import { changeOf } from './subject-change.js';
import type { NodeBody } from './node-work.js';

/** `set_field`: writes a field of the subject in the transaction that records the node. */
export const setFieldNode: NodeBody = async (work) => {
  const { node, ctx, values, host } = work;
  const { field } = node.config as { readonly field: string };
  const change = changeOf(work);
  const value = await values.fixedMap('value', node.mappings.get('value')!);
  ctx.recordWith((manager) => host.subjects.setField({ ...change, field, value }, manager));
  return { field, value };
};
