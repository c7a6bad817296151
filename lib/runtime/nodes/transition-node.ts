import { cleanText } from '../../engine/codec/index.js';
import { parseDurationMs } from '../../engine/time/index.js';
import { TransitionDeniedError, WorkflowError } from '../../errors/index.js';
import type { TransitionAnswer, TransitionRequest } from '../../interfaces/index.js';
import { expressionAt, type NodeBody } from './node-work.js';
import { changeOf } from './subject-change.js';

/** `transition`: moves the subject to a state, as the run's actor, in a transaction that commits with what came of it. */
export const transitionNode: NodeBody = async (work) => {
  const { node, ctx, values, host } = work;
  const { to, lifecycle = null } = node.config as { readonly to: string; readonly lifecycle?: string };
  const change = changeOf(work);
  const reason = node.expressions.has('reason')
    ? storable((await values.fixed('reason', expressionAt(work, 'reason'))) as string)
    : null;
  const request = { ...change, to, lifecycle, reason };
  try {
    return await ctx.transaction('transition', async (manager) =>
      moved(await host.subjects.transition(request, manager), request),
    );
  } catch (error) {
    if (!WorkflowError.is(error) || error.code !== 'TRANSITION_DENIED' || error.retryable) throw error;
    if (!node.edges.has('denied')) throw error;
    return ctx.outcome('denied', { to, reason: (error.params as { readonly reason?: string }).reason ?? null });
  }
};

/** It is kept in columns of the host's, which refuse U+0000 and half a character at every try. */
const storable = (reason: string): string => cleanText(reason, reason.length);

function moved(answer: TransitionAnswer, { to, subject }: TransitionRequest): object {
  const told = { transition: to, subject: `${subject.type} ${subject.id}` };
  switch (answer?.result) {
    case 'applied':
      return { result: answer.result, from: answer.from, to };
    case 'already-there':
      return { result: answer.result, from: to, to };
    case 'denied':
      throw new TransitionDeniedError({ ...told, reason: answer.reason });
    case 'retry-later': {
      const { after } = answer;
      const retryAfterMs = after === undefined ? undefined : parseDurationMs(after, 'after');
      const options = { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      throw new TransitionDeniedError({ ...told, reason: answer.reason }, options);
    }
    default:
      throw new TypeError(
        `The lifecycle of "${subject.type}" must answer { result: 'applied' | 'already-there' | 'denied' | 'retry-later', … }.`,
      );
  }
}
