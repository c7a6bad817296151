import { readApprovers, type Approver } from '../../engine/approvals/index.js';
import type { Expression } from '../../engine/expression/index.js';
import type { CompiledEscalation } from '../../engine/graph/index.js';
import type { EscalationWork } from './escalation-actions.js';
import type { NodeWork } from './node-work.js';

/**
 * Who they are at this moment, each once (fault K41): of names of resolvers those whom the host resolves them to (fault K42).
 *
 * @throws ExpressionFailedError, InvalidApproversError, UnknownApproversError, what a resolver throws
 */
export async function peopleOf(work: NodeWork, given: Expression | readonly unknown[]): Promise<Approver[]> {
  const { node, ctx, values, host, startedBy } = work;
  const { key } = ctx.stage;
  if (!('evaluate' in given)) return readApprovers(given, key);
  const context = {
    ...{ node: node.id, run: ctx.run, owner: ctx.owner, requester: startedBy },
    subject: async (): Promise<unknown> => (ctx.run.subject === null ? null : ctx.subject()),
  };
  const named: Record<string, unknown> = {};
  for (const name of given.approvers) {
    if (name === undefined) continue;
    const answer = await host.approvals.resolve(name, context);
    readApprovers(answer, key);
    named[name] = answer;
  }
  return readApprovers(await values.evaluate(given, { approvers: named }), key);
}

/** Those whom an escalation names. @throws as `peopleOf` */
export async function escalatedTo(work: EscalationWork): Promise<Approver[]> {
  const { to }: { readonly to: CompiledEscalation['to'] } = work.escalation;
  return to === null ? [] : peopleOf(work, to);
}
