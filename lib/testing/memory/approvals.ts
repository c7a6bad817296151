import { changedRound, isAsked, roundSignal, type ApprovalRound } from '../../engine/approvals/index.js';
import type {
  Ask,
  AskFilter,
  ChangedRound,
  LockedRound,
  NewRound,
  RoundChangeOptions,
  RoundDecision,
  RoundPlace,
} from '../../engine/ports/approval-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import { isTerminalRun, isTerminalStageRun } from '../../engine/state/statuses.js';
import { keepAuditOf } from './audit.js';
import { tell } from './outbox-writes.js';
import type { MemorySession } from './session.js';
import { sendSignal } from './signals.js';
import { instant } from './views.js';

/** A round, its status as it was written. */
export interface RoundRecord extends Omit<ApprovalRound, 'status'> {
  readonly budget: number;
  status: ApprovalRound['status'];
}

/** The round of a visit, since it was last opened by hand. */
export function findRound(session: MemorySession, { runId, stageRunId }: RoundPlace): ApprovalRound | undefined {
  const budget = session.db.stageRuns.get(stageRunId)?.budgetFrom;
  const found = session.db.roundsOf.of(runId).find((row) => row.stageRunId === stageRunId && row.budget === budget);
  return found && viewOf(session, found);
}

/** The round of the visit that an escalation stands beside. */
export function findRoundBeside(session: MemorySession, { runId, stageRunId }: RoundPlace): ApprovalRound | undefined {
  const { db } = session;
  const escalation = db.stageRuns.get(stageRunId);
  if (escalation?.runId !== runId) return undefined;
  const { generation, node, visit } = escalation;
  const beside = db.stageRunsOf
    .of(runId)
    .find((one) => one.generation === generation && one.node === node && one.visit === visit && !isEscalation(one));
  return beside && findRound(session, { runId, stageRunId: beside.id });
}

export function openRound(
  session: MemorySession,
  place: RoundPlace,
  make: (budget: number) => NewRound,
): ApprovalRound | 'ended' {
  const { db, now } = session;
  const run = db.runs.get(place.runId);
  const stageRun = db.stageRuns.get(place.stageRunId);
  if (run === undefined || isTerminalRun(run.status)) return 'ended';
  if (stageRun === undefined || stageRun.runId !== run.id || isTerminalStageRun(stageRun.status)) return 'ended';
  const standing = findRound(session, place);
  if (standing) return standing;
  const { expiresInMs, events, ...made } = make(stageRun.budgetFrom);
  const row = db.rounds.insert({
    ...made,
    ...place,
    ownerId: run.ownerId,
    budget: stageRun.budgetFrom,
    status: 'open',
    stage: 0,
    decisions: [],
    openedAt: instant(now),
    expiresAt: expiresInMs === null ? null : instant(now + expiresInMs),
    endedAt: null,
    endedBy: null,
    endReason: null,
    remindedAt: null,
  });
  const opened = viewOf(session, row);
  tell(session, run.id, events(opened));
  return opened;
}

export function changeRound<R>(
  session: MemorySession,
  { id, runId }: { readonly id: string; readonly runId: string },
  scope: OwnerScope,
  decide: (round: LockedRound) => RoundDecision<R>,
  { audit }: RoundChangeOptions<R> = {},
): ChangedRound<R> | undefined {
  const { db, now } = session;
  const row = findRow(session, id, scope);
  if (row === undefined || row.runId !== runId) return undefined;
  const round = viewOf(session, row);
  const { change, answer } = decide({ round, unended: row.status === 'open', now: instant(now) });
  if (audit) keepAuditOf(session, { id: runId, ownerId: row.ownerId }, audit(answer));
  if (!change) return { answer, resumed: false };
  const { status: _seen, ...after } = changedRound(round, change, instant(now));
  db.rounds.patch(row, { ...after, ...(change.ended && { status: change.ended.status }) });
  tell(session, runId, change.events);
  if (!change.ended || change.ended.status === 'expired') return { answer, resumed: false };
  const payload = JSON.stringify(change.ended.status);
  const signal = { id: session.nextId(), ownerId: null, key: roundSignal(id), subject: null, payload };
  return { answer, resumed: sendSignal(session, { ...signal, messageDigest: null }, runId, scope) === 'delivered' };
}

export function getRound(session: MemorySession, id: string, scope: OwnerScope): ApprovalRound | undefined {
  const row = findRow(session, id, scope);
  return row && viewOf(session, row);
}

/** Newest first. */
export function listAsks(session: MemorySession, { holder, before, limit }: AskFilter, scope: OwnerScope): Ask[] {
  const rounds = [...session.db.rounds.all()]
    .filter((row) => isVisible(row, scope) && (before === undefined || row.id < before))
    .map((row) => viewOf(session, row));
  rounds.sort((a, b) => (a.id < b.id ? 1 : -1));
  return rounds.flatMap((round) => askOf(session, round, holder) ?? []).slice(0, limit);
}

/** Ends the rounds of a run, or of one of its stage runs, with it. */
export function cancelRounds({ db, now }: MemorySession, runId: string, stageRunId?: string): void {
  for (const row of db.roundsOf.of(runId)) {
    if (row.status !== 'open' || (stageRunId !== undefined && row.stageRunId !== stageRunId)) continue;
    db.rounds.patch(row, { status: 'cancelled', endedAt: instant(now) });
  }
}

function askOf({ db }: MemorySession, round: ApprovalRound, holder: string): Ask | undefined {
  const seat = round.seats.find((one) => one.holder === holder && isAsked(round, one));
  const run = db.runs.get(round.runId);
  if (!seat || !run) return undefined;
  const { id: roundId, runId, ownerId, node, stage, requester, terms, openedAt, expiresAt } = round;
  const { definitionId, subject } = run;
  const asked = { name: terms.stages[stage]!.name, approver: seat.approver, requester, comment: terms.comment };
  return { roundId, runId, ownerId, definitionId, subject, node, stage, ...asked, openedAt, expiresAt };
}

function findRow({ db }: MemorySession, id: string, scope: OwnerScope): RoundRecord | undefined {
  const row = db.rounds.get(id);
  return row !== undefined && isVisible(row, scope) ? row : undefined;
}

const isVisible = ({ ownerId }: RoundRecord, scope: OwnerScope): boolean => 'all' in scope || ownerId === scope.owner;

const viewOf = (session: MemorySession, { budget, ...row }: RoundRecord): ApprovalRound => ({
  ...row,
  status: statusOf(session, { budget, ...row }),
});

/** What holds, whatever the row says. */
function statusOf({ db, now }: MemorySession, row: RoundRecord): ApprovalRound['status'] {
  if (row.status !== 'open') return row.status;
  const run = db.runs.get(row.runId);
  const stageRun = db.stageRuns.get(row.stageRunId);
  if (!run || isTerminalRun(run.status) || !stageRun || isTerminalStageRun(stageRun.status)) return 'cancelled';
  if (stageRun.budgetFrom !== row.budget) return 'cancelled';
  const signal = roundSignal(row.id);
  const isOver = (one: { kind: string; eventKey: string | null; timedOut: boolean }): boolean =>
    one.kind === 'signal' && one.eventKey === signal && one.timedOut;
  const late = row.expiresAt !== null && Date.parse(row.expiresAt) <= now;
  return late || db.stepsOf.of(row.stageRunId).some(isOver) ? 'expired' : 'open';
}
