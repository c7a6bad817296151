import { addApprovers, askedAmong, type Approver } from '../../engine/approvals/index.js';
import { derivedId, encodeJson } from '../../engine/codec/index.js';
import type { AuditEntry } from '../../engine/ports/index.js';
import { NoRecipientsError, RoundNotOpenedError } from '../../errors/index.js';
import type { RoundResult } from './approval-host.js';
import type { EscalationBody, EscalationWork } from './escalation-actions.js';
import { escalatedTo } from './people.js';

/** What a reassignment came to, as its stage run keeps it. */
export interface Reassigned {
  readonly round: string;
  /** Which stage of approval, from 0. */
  readonly stage: number;
  /** Those of whom it names who are asked there now, or were already. */
  readonly to: readonly string[];
}

/**
 * `reassign`: has more people asked in the round of the visit, so that somebody can act where those who were asked do not (fault K42).
 * What was asked of the round is kept in the audit with it, also where it was refused; the same again changes nothing.
 *
 * @throws NoRecipientsError, NoApproversError, ApprovalCannotPassError, RoundClosedError; RoundNotOpenedError, which is tried again
 */
export const reassignAction: EscalationBody = async (work): Promise<Reassigned> => {
  const { ctx, node, host } = work;
  const approvers = await escalatedTo(work);
  if (approvers.length === 0) throw new NoRecipientsError({ escalation: ctx.stage.key });
  const found = await host.approvals.beside({ runId: ctx.run.id, stageRunId: ctx.stage.runId });
  if (!found) throw new RoundNotOpenedError({ escalation: ctx.stage.key, node: node.id });
  const { round, error } = await host.approvals.change(
    found,
    (standing) => addApprovers(standing, { approvers, escalation: ctx.stage.runId }),
    (change) => auditOf(work, approvers, change),
  );
  if (error) throw error;
  return { round: round.id, stage: round.stage, to: askedAmong(round, approvers) };
};

/** With what the graph says beside whom that was resolved to, and who is asked now. */
function auditOf(
  { ctx, node, escalation }: EscalationWork,
  approvers: readonly Approver[],
  { round, repeated, error }: RoundResult,
): AuditEntry {
  const { to } = escalation.action as { readonly to: unknown };
  const told = { round: round.id, node: node.id, stage: round.stage, escalation: ctx.stage.key, to };
  const resolved = { ...told, approvers: approvers.map(({ id }) => id) };
  const came = error
    ? { refused: error.code }
    : { asked: askedAmong(round, approvers), ...(repeated && { repeated: true }) };
  return {
    // One for each attempt: what a replay of it finds done is kept already.
    id: derivedId(ctx.stage.runId, 'reassign', ctx.attempt),
    ...{ action: 'reassign', ability: null, actor: null, allowed: true, reason: null, source: `run ${ctx.run.id}` },
    details: encodeJson({ ...resolved, ...came }),
  };
}
