import type { Duration } from '../../engine/time/index.js';
import { expressionAt, type NodeBody, type NodeWork } from './node-work.js';

type WaitConfig =
  | { readonly timer: Duration }
  | { readonly until: string }
  | {
      readonly event: { readonly key: string; readonly where?: string; readonly subject?: boolean };
      readonly timeout?: Duration;
    }
  | { readonly condition: string; readonly every?: Duration; readonly timeout?: Duration };

/** How often a condition is asked where the node says nothing. */
export const DEFAULT_EVERY: Duration = '1m';

/** `wait`: for a time, an instant, an event, or until something holds of the subject. */
export const waitNode: NodeBody = async (work) => {
  const { node, ctx } = work;
  const config = node.config as WaitConfig;
  if ('timer' in config) {
    await ctx.step.sleep('timer', config.timer);
    return null;
  }
  if ('until' in config) {
    const instant = await work.values.fixed('instant', expressionAt(work, 'until'));
    await ctx.step.sleepUntil('until', instant as string);
    return null;
  }
  if ('event' in config) return waitForEvent(work, config);
  return waitForCondition(work, config);
};

async function waitForEvent(work: NodeWork, config: Extract<WaitConfig, { event: unknown }>): Promise<unknown> {
  const { ctx, values } = work;
  const { where, subject } = config.event;
  const key = (await values.fixed('key', expressionAt(work, 'event.key'))) as string;
  const options = {
    key,
    ...(where !== undefined && { where }),
    ...(subject === true && ctx.run.subject !== null && { subject: ctx.run.subject }),
  };
  return timed(work, config.timeout, (limit) => ctx.step.waitForEvent('event', { ...options, ...limit }));
}

async function waitForCondition(work: NodeWork, config: Extract<WaitConfig, { condition: string }>): Promise<unknown> {
  const { ctx, values } = work;
  const { every = DEFAULT_EVERY } = config;
  const holds = async (): Promise<boolean> => (await values.evaluate(expressionAt(work, 'condition'))) === true;
  return timed(work, config.timeout, (limit) => ctx.step.waitFor('condition', holds, { every, ...limit }));
}

type Limit = { readonly timeout: Duration; readonly onTimeout: 'return' };

/** With an edge for it the run goes on when the time is over; without one the wait fails `WAIT_TIMEOUT`. */
async function timed(
  { node, ctx }: NodeWork,
  timeout: Duration | undefined,
  wait: (limit: Limit) => Promise<unknown>,
): Promise<unknown> {
  if (timeout === undefined) return wait({} as Limit);
  if (!node.edges.has('timeout')) return wait({ timeout } as Limit);
  const ended = (await wait({ timeout, onTimeout: 'return' })) as
    { readonly timedOut: true } | { readonly timedOut: false; readonly value: unknown };
  return ended.timedOut ? ctx.outcome('timeout', null) : ended.value;
}
