import {
  addApprovers,
  closeRound,
  decideRound,
  delegateSeat,
  expireRound,
  openedEvent,
  prepareRound,
  remindRound,
  roundSignal,
  withdrawDecision,
  type ApprovalAnswer,
  type ApprovalRound,
  type ApprovalRule,
  type RoundAnswer,
} from '../../engine/approvals/index.js';
import { derivedId } from '../../engine/codec/derived-id.js';
import type {
  ClaimedJob,
  LockedRound,
  NewRound,
  OpenWait,
  OwnerScope,
  RoundPlace,
  WorkflowStore,
} from '../../engine/ports/index.js';
import { newId } from './builders.js';
import { newWait, suspending } from './step-builders.js';
import { EVERYBODY, type StoreUnderTest } from './store-under-test.js';

export interface RoundGiven {
  readonly approvers?: readonly string[];
  readonly rule?: ApprovalRule;
  /** Instead of one stage of approval. */
  readonly stages?: readonly (readonly string[])[];
  readonly requester?: string | null;
  readonly expiresInMs?: number | null;
}

/** A round as a visit opens it: u1 and u2 have to agree, unless given. */
export function newRound(place: RoundPlace, given: RoundGiven = {}): (budget: number) => NewRound {
  const { approvers = ['u1', 'u2'], rule = 'all', stages = [approvers], requester = null, expiresInMs = null } = given;
  const prepared = prepareRound({
    node: 'sign',
    requester,
    terms: { comment: 'optional', ownRequest: false, delegation: true },
    stages: stages.map((ids) => ({
      name: null,
      rule,
      approvers: ids.map((id) => ({ id, groups: ['all'], weight: 1.5 })),
    })),
  });
  return (budget) => ({
    ...prepared,
    id: derivedId(place.stageRunId, 'approval', budget),
    expiresInMs,
    events: (round) => [openedEvent(round)],
  });
}

export const placeOf = ({ run, stageRun }: ClaimedJob): RoundPlace => ({ runId: run.id, stageRunId: stageRun.id });

/** Opens the round of a claimed stage. */
export async function openRound(on: StoreUnderTest, job: ClaimedJob, given: RoundGiven = {}): Promise<ApprovalRound> {
  const opened = await on.store.openRound(placeOf(job), newRound(placeOf(job), given));
  if (opened === 'ended') throw new Error('The stage run has ended.');
  return opened;
}

/** The wait of a stage for the end of its round. */
export const roundWait = (round: ApprovalRound, given: Partial<OpenWait> = {}): OpenWait =>
  newWait(`decision ${round.id}`, { kind: 'signal', eventKey: roundSignal(round.id), ...given });

/** A stage that waits for the end of its round, or for its time to be over. */
export async function waitingRound(
  on: StoreUnderTest,
  given: RoundGiven = {},
): Promise<{ readonly job: ClaimedJob; readonly round: ApprovalRound }> {
  const job = await on.startAndClaim();
  const round = await openRound(on, job, given);
  await on.suspend(suspending(job, [roundWait(round, { expiresInMs: given.expiresInMs ?? null })]));
  return { job, round };
}

type Asked = (round: ApprovalRound, now: string, locked: LockedRound) => RoundAnswer;

export const deciding =
  (by: string, answer: ApprovalAnswer = 'approved', id = newId()): Asked =>
  (round, now) =>
    decideRound(round, { id, by, answer, reason: 'so it is', comment: null, stage: null }, now);

export const withdrawing =
  (by: string): Asked =>
  (round) =>
    withdrawDecision(round, { by, reason: null });

export const delegating =
  (by: string, to: string): Asked =>
  (round, now) =>
    delegateSeat(round, { by, to, reason: 'away' }, now);

export const adding =
  (...ids: readonly string[]): Asked =>
  (round) =>
    addApprovers(round, {
      escalation: round.stageRunId,
      approvers: ids.map((id) => ({ id, groups: ['more'], weight: 2.5 })),
    });

export const closing =
  (outcome: ApprovalAnswer): Asked =>
  (round) =>
    closeRound(round, { by: 'boss', outcome, reason: 'urgent' });

export const expiring: Asked = (round, _now, { unended }) => expireRound(round, unended);

export const reminding: Asked = (round, now) => remindRound(round, { by: null, everyMs: 60_000 }, now);

export interface AskedOf {
  /** `changed`, `repeated`, or the code of a refusal. */
  readonly answer: string;
  readonly resumed: boolean;
}

/** Asks something of a round, and says what became of it. */
export const ask = (
  on: StoreUnderTest,
  round: ApprovalRound,
  asked: Asked,
  { store = on.store, scope }: { readonly store?: WorkflowStore; readonly scope?: OwnerScope } = {},
): Promise<AskedOf> => askIn(store, round, asked, scope);

/** The same of a store that stands alone. */
export async function askIn(
  store: WorkflowStore,
  round: ApprovalRound,
  asked: Asked,
  scope: OwnerScope = EVERYBODY,
): Promise<AskedOf> {
  const changed = await store.changeRound(round, scope, (locked) => {
    const answer = asked(locked.round, locked.now, locked);
    return {
      change: answer.kind === 'changed' ? answer.change : null,
      answer: answer.kind === 'refused' ? answer.error.code : answer.kind,
    };
  });
  return changed ?? { answer: 'not found', resumed: false };
}

/** The round as it is now. */
export async function read(on: StoreUnderTest, round: ApprovalRound): Promise<ApprovalRound> {
  const found = await on.store.getRound(round.id, EVERYBODY);
  if (found === undefined) throw new Error(`There is no round ${round.id}.`);
  return found;
}

/** The rounds in which somebody is asked. */
export const inbox = async (on: StoreUnderTest, holder: string, scope: OwnerScope = EVERYBODY): Promise<string[]> =>
  (await on.store.listAsks({ holder, limit: 100 }, scope)).map(({ roundId }) => roundId);
