import {
  DEFAULT_RULE,
  openedEvent,
  prepareRound,
  roundSignal,
  type ApprovalRound,
  type ApprovalRule,
  type Approver,
  type ResolvedStage,
  type RoundTerms,
} from '../../engine/approvals/index.js';
import { derivedId } from '../../engine/codec/index.js';
import { parseDurationMs } from '../../engine/time/index.js';
import { RoundClosedError, WaitTimeoutError } from '../../errors/index.js';
import { approvalOutput } from './approval-output.js';
import { expressionAt, type NodeBody, type NodeWork } from './node-work.js';
import { peopleOf } from './people.js';

interface StageConfig {
  readonly name?: string;
  readonly approvers: string | readonly unknown[];
  readonly rule?: ApprovalRule;
}

type ApprovalConfig = Partial<Omit<RoundTerms, 'stages'>> & { readonly expires?: string } & (
    StageConfig | { readonly stages: readonly StageConfig[] }
  );

/**
 * `approval`: asks people, and waits for the end of the round.
 *
 * What a round has come to is read from it at each replay, never from what woke the stage: the signal of a round only makes it look. So
 * a crash at any place finds the round as it is, and nothing that was decided is lost with an attempt.
 */
export const approvalNode: NodeBody = async (work) => {
  const { node, ctx, host } = work;
  const { expires } = node.config as ApprovalConfig;
  let round = await ctx.local(() => roundOf(work));
  while (round.status === 'open') {
    await waitForEnd(work, round);
    round = await ctx.local(() => roundOf(work));
  }
  if (round.status === 'cancelled') throw new RoundClosedError({ round: round.id, status: round.status });
  if (round.status !== 'expired') return ctx.outcome(round.status, approvalOutput(round, host.limits.maxOutputBytes));
  const over = round;
  await ctx.local(() => host.approvals.expire(over));
  if (node.edges.has('expired')) return ctx.outcome('expired', approvalOutput(round, host.limits.maxOutputBytes));
  throw new WaitTimeoutError({ what: `Approval ${node.id}`, timeout: expires! });
};

/** Until somebody tells of the end, or the time is over. */
async function waitForEnd({ ctx, host }: NodeWork, { id, expiresAt }: ApprovalRound): Promise<void> {
  const signal = roundSignal(id);
  if (expiresAt === null) {
    await ctx.step.waitForSignal(signal, { signal });
    return;
  }
  const timeout = await ctx.local(async () => remaining(expiresAt, await host.now()));
  await ctx.step.waitForSignal(signal, { signal, timeout, onTimeout: 'return' });
}

const remaining = (expiresAt: string, now: string): number => Math.max(1, Date.parse(expiresAt) - Date.parse(now));

/** The round of this visit; opened when there is none, with whoever is an approver now (fault K41). */
async function roundOf(work: NodeWork): Promise<ApprovalRound> {
  const { ctx, host } = work;
  const place = { runId: ctx.run.id, stageRunId: ctx.stage.runId };
  const standing = await host.approvals.find(place);
  if (standing) return standing;
  const { node, startedBy } = work;
  const { comment = 'optional', ownRequest = false, delegation = true, expires } = node.config as ApprovalConfig;
  const prepared = prepareRound({
    node: node.id,
    stages: await resolvedStages(work),
    terms: { comment, ownRequest, delegation },
    requester: host.approvals.actorId(startedBy),
  });
  const opened = await host.approvals.open(place, (budget) => ({
    ...prepared,
    id: derivedId(place.stageRunId, 'approval', budget),
    expiresInMs: expires === undefined ? null : parseDurationMs(expires, 'expires'),
    events: (round) => [openedEvent(round)],
  }));
  if (opened === 'ended') throw new RoundClosedError({ round: place.stageRunId, status: 'cancelled' });
  return opened;
}

async function resolvedStages(work: NodeWork): Promise<ResolvedStage[]> {
  const config = work.node.config as ApprovalConfig;
  const stages = 'stages' in config ? config.stages : [config];
  const resolved: ResolvedStage[] = [];
  // One after the other: a resolver that is asked for two stages sees its own order.
  for (const [at, { name = null, approvers, rule = DEFAULT_RULE }] of stages.entries()) {
    const place = 'stages' in config ? `stages[${at}].approvers` : 'approvers';
    resolved.push({ name, rule, approvers: await approversAt(work, approvers, place) });
  }
  return resolved;
}

/** Ids that are written out are no expression. */
const approversAt = (work: NodeWork, given: StageConfig['approvers'], place: string): Promise<Approver[]> =>
  peopleOf(work, typeof given === 'string' ? expressionAt(work, place) : given);
