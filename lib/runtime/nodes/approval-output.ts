import type { ApprovalRound } from '../../engine/approvals/index.js';
import { byteLength } from '../../engine/codec/index.js';
import type { ApprovalOutput } from '../../interfaces/index.js';

/** The decisions that stand. What people decided must not fail for how much they wrote: reasons, then decisions, are left out. */
export function approvalOutput(round: ApprovalRound, maxBytes: number): ApprovalOutput {
  const { id, status, endedBy, endReason } = round;
  const decisions = round.decisions
    .filter(({ withdrawn }) => !withdrawn)
    .map(({ by, approver, stage, answer, reason, at }) => ({
      ...{ by, onBehalfOf: by === approver ? null : approver, stage, answer, reason, at },
    }));
  const whole = { outcome: status, round: id, decisions, closedBy: endedBy, reason: endReason };
  const short = { ...whole, decisions: decisions.map(({ reason: _reason, ...one }) => one) };
  const fits = (output: ApprovalOutput): boolean => byteLength(JSON.stringify(output)) <= maxBytes;
  return [whole, short].find(fits) ?? { ...whole, decisions: [] };
}
