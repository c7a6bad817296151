import { expressionsOf, passNode } from '../../engine/walk/index.js';
import { ExpressionFailedError, LimitExceededError } from '../../errors/index.js';
import type { NodeBody } from './node-work.js';

/**
 * `condition`, `branch`, `loop`, `parallel` and `end` whose expressions speak of more than the run itself: a worker looks at them, in
 * the owner's context, and the run goes on as if it had passed them by itself.
 */
export const passedNode: NodeBody = async ({ graph, node, ctx, values, host }) => {
  const result = passNode(graph, node, values.visits, await values.of(expressionsOf(node)), host.limits);
  switch (result.kind) {
    case 'failed':
      throw new ExpressionFailedError({ node: node.id, message: result.problem });
    case 'too-many-turns': {
      const { turns: actual, most: value } = result;
      const where = `Loop ${node.id} of ${graph.id}`;
      throw new LimitExceededError({ code: 'LOOP_LIMIT_EXCEEDED', where, actual, limit: 'maxLoopIterations', value });
    }
    case 'forked':
      return JSON.parse(result.output);
    default:
      return ctx.outcome(result.outcome, JSON.parse(result.output));
  }
};
