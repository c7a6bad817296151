import {
  closeRound,
  decideRound,
  delegateSeat,
  remindRound,
  revokeDelegation,
  withdrawDecision,
  type ApprovalAnswer,
} from '../engine/approvals/index.js';
import type { OwnerScope } from '../engine/ports/index.js';
import { ApprovalNotFoundError, ApproverUnknownError, InvalidOptionsError } from '../errors/index.js';
import type { ApprovalOperation } from '../interfaces/index.js';
import {
  callOptions,
  decideOptions,
  personOf,
  roundIdOf,
  type ApprovalCallOptions,
  type DecideOptions,
} from './approvals/approval-options.js';
import { toApprovalView, toAskView, type ApprovalAskView, type ApprovalView } from './approvals/approval-views.js';
import type { RoundCommands, RoundRequest } from './approvals/round-commands.js';
import type { EngineReady } from './engine-port.js';
import { ListCheck } from './runs/list-check.js';

export interface InboxOptions {
  /** Whose inbox, as `setActor` would be given it. @default the caller's own */
  readonly actor?: unknown;
  /** `after` of the page before. @default the newest */
  readonly after?: string | null;
  /** From 1 to 500. @default 50 */
  readonly limit?: number;
}

export interface InboxPage {
  readonly asks: readonly ApprovalAskView[];
  /** Pass it as `after` for the next page; null = this was the last. */
  readonly after: string | null;
}

export interface ApprovalResult {
  readonly approval: ApprovalView;
  /** It was done before, by the same person in the same way: nothing was written. */
  readonly repeated: boolean;
}

export interface ApprovalsServiceParts {
  readonly ready: EngineReady;
  readonly commands: RoundCommands;
  readonly scopeOf: (where: string) => Promise<OwnerScope>;
  /** Who calls. */
  readonly actor: () => unknown;
  /** The id that approvers are known by; null = nobody. */
  readonly actorId: (actor: unknown) => string | null;
  readonly remindEveryMs: number;
}

/**
 * What people are asked, and what they answer: rounds of approval of the caller's owner.
 *
 * Who calls is told by `WorkflowContext.setActor` of the request, and known as an approver by `approvals.actorId`. Each call that changes
 * a round asks the authorizer for its ability (`authorization.operations`), is kept in the audit, and holds with all that follows from
 * it, or not at all: a decision that ends its round wakes the run in the same transaction. What comes after a round's end is
 * refused, whoever was faster.
 *
 * @publicApi
 */
export class ApprovalsService {
  readonly #parts: ApprovalsServiceParts;

  constructor(parts: ApprovalsServiceParts) {
    this.#parts = parts;
  }

  /**
   * What somebody is asked now, newest first, a page at a time.
   *
   * @throws InvalidOptionsError, UndefinedIdError, ApproverUnknownError when it is not known who calls
   */
  async inbox(options: InboxOptions = {}): Promise<InboxPage> {
    const where = 'inbox';
    const page = new ListCheck(options, { filters: ['actor'], cursor: 'after' }, where).page();
    const holder = this.#person(options.actor ?? this.#parts.actor(), where);
    const scope = await this.#parts.scopeOf(where);
    const { store } = await this.#parts.ready();
    // One more than the page tells whether another follows, without counting.
    const rows = await store.listAsks({ ...page, holder, limit: page.limit + 1 }, scope);
    const asks = rows.slice(0, page.limit).map(toAskView);
    return { asks, after: rows.length > page.limit ? (asks.at(-1)?.round ?? null) : null };
  }

  /** A round with its progress: who has decided, what is missing. @throws ApprovalNotFoundError, UndefinedIdError */
  async get(round: string): Promise<ApprovalView> {
    const where = 'get';
    const id = roundIdOf(round, where);
    const scope = await this.#parts.scopeOf(where);
    const found = await (await this.#parts.ready()).store.getRound(id, scope);
    if (!found) throw new ApprovalNotFoundError({ round: id });
    return toApprovalView(found);
  }

  /**
   * Decides, as the caller. The same answer again is a no-op that says so, also after the end; another one is refused.
   *
   * @throws ApprovalNotFoundError, AuthorizationDeniedError, ApproverUnknownError, NotAnApproverError, AlreadyDecidedError,
   * RoundClosedError, StageUnclearError, CommentRequiredError, InvalidOptionsError, TransactionRequiredError
   */
  async decide(round: string, answer: ApprovalAnswer, options: DecideOptions = {}): Promise<ApprovalResult> {
    const { reason, comment, stage, decisionId } = decideOptions(answer, options, 'decide');
    const by = this.#caller('decide');
    return this.#run('decide', round, options, reason, { answer }, ({ round: found, now }, engine) =>
      decideRound(found, { id: decisionId ?? engine.nextId(), by, answer, reason, comment, stage }, now),
    );
  }

  /**
   * Lets somebody else decide in the caller's place; the caller can't any more. A delegate may hand on. In one stage of approval nobody
   * decides twice: who is asked there himself, or asked for it, is refused.
   *
   * @throws as `decide`; DelegationRefusedError, SeatDecidedError
   */
  async delegate(round: string, to: string, options: ApprovalCallOptions = {}): Promise<ApprovalResult> {
    const { reason } = callOptions(options, 'delegate');
    const person = personOf(to, 'to', 'delegate');
    const by = this.#caller('delegate');
    return this.#run('delegate', round, options, reason, { to: person }, ({ round: found, now }) =>
      delegateSeat(found, { by, to: person, reason }, now),
    );
  }

  /**
   * Takes back what the caller handed over, from whoever has it now. What was decided meanwhile stands.
   *
   * @throws as `decide`; SeatDecidedError
   */
  async revoke(round: string, options: ApprovalCallOptions = {}): Promise<ApprovalResult> {
    const { reason } = callOptions(options, 'revoke');
    const by = this.#caller('revoke');
    return this.#run('revoke', round, options, reason, {}, ({ round: found }) =>
      revokeDelegation(found, { by, reason }),
    );
  }

  /**
   * Takes back the caller's own decision, as long as its stage of approval is asked.
   *
   * @throws as `decide`; NothingToWithdrawError
   */
  async withdraw(round: string, options: ApprovalCallOptions = {}): Promise<ApprovalResult> {
    const { reason } = callOptions(options, 'withdraw');
    const by = this.#caller('withdraw');
    return this.#run('withdraw', round, options, reason, {}, ({ round: found }) =>
      withdrawDecision(found, { by, reason }),
    );
  }

  /**
   * Ends a round from outside, whatever its rule says: an operator's call. Name an ability for `closeApproval`.
   *
   * @throws ApprovalNotFoundError, AuthorizationDeniedError, RoundClosedError, InvalidOptionsError, TransactionRequiredError
   */
  async close(round: string, outcome: ApprovalAnswer, options: ApprovalCallOptions = {}): Promise<ApprovalResult> {
    const { reason } = callOptions(options, 'closeApproval');
    if (outcome !== 'approved' && outcome !== 'rejected') {
      const problems = [{ path: 'outcome', message: "must be 'approved' or 'rejected'" }];
      throw new InvalidOptionsError({ where: 'close', problems });
    }
    const by = this.#parts.actorId(this.#parts.actor());
    return this.#run('closeApproval', round, options, reason, { outcome }, ({ round: found }) =>
      closeRound(found, { by, outcome, reason }),
    );
  }

  /**
   * Reminds those who have still to answer: `approval:reminded` is told. At most once in `approvals.remindEvery`.
   *
   * @throws ApprovalNotFoundError, AuthorizationDeniedError, RoundClosedError, RemindedTooSoonError (`params.possibleAt`),
   * InvalidOptionsError, TransactionRequiredError
   */
  async remind(round: string, options: ApprovalCallOptions = {}): Promise<ApprovalResult> {
    const { reason } = callOptions(options, 'remind');
    const by = this.#parts.actorId(this.#parts.actor());
    const everyMs = this.#parts.remindEveryMs;
    return this.#run('remind', round, options, reason, {}, ({ round: found, now }) =>
      remindRound(found, { by, everyMs }, now),
    );
  }

  /** The same over all owners. Say it only where the caller was checked. */
  asOperator(): ApprovalsService {
    return new ApprovalsService({ ...this.#parts, scopeOf: () => Promise.resolve({ all: true }) });
  }

  async #run(
    where: ApprovalOperation,
    round: string,
    { manager }: ApprovalCallOptions,
    reason: string | null,
    details: Readonly<Record<string, unknown>>,
    decide: RoundRequest['decide'],
  ): Promise<ApprovalResult> {
    const roundId = roundIdOf(round, where);
    const scope = await this.#parts.scopeOf(where);
    const asked = { roundId, scope, where, reason, manager, details, decide };
    const { round: after, repeated } = await this.#parts.commands.run(asked);
    return { approval: toApprovalView(after), repeated };
  }

  #caller(where: string): string {
    return this.#person(this.#parts.actor(), where);
  }

  #person(actor: unknown, where: string): string {
    const id = this.#parts.actorId(actor);
    if (id === null) throw new ApproverUnknownError({ where });
    return id;
  }
}
