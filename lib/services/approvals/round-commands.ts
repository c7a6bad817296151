import { changedRound, type ApprovalRound, type RoundAnswer } from '../../engine/approvals/index.js';
import type { AuditEntry, LockedRound, OwnerScope } from '../../engine/ports/index.js';
import { ApprovalNotFoundError, WorkflowError } from '../../errors/index.js';
import type { ApprovalOperation, TransactionManager } from '../../interfaces/index.js';
import type { EnginePort, EngineReady } from '../engine-port.js';
import type { Details, Operations } from '../operations/operations.js';
import type { OwnedRuns } from '../runs/owned-runs.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';

export interface RoundRequest {
  readonly roundId: string;
  readonly scope: OwnerScope;
  /** The call. */
  readonly where: ApprovalOperation;
  readonly reason: string | null;
  readonly manager: TransactionManager | undefined;
  /** What else is kept of it. */
  readonly details?: Details;
  readonly decide: (locked: LockedRound, engine: EnginePort) => RoundAnswer;
}

/** What became of a call. */
export interface RoundCommandResult {
  readonly round: ApprovalRound;
  /** It was done before: nothing was written. */
  readonly repeated: boolean;
}

interface Answer {
  readonly round: ApprovalRound;
  readonly kind: RoundAnswer['kind'];
  readonly error: WorkflowError | null;
}

/** Asks the authorizer, then the round under its lock; keeps what came of it, and tells. */
export class RoundCommands {
  readonly #ready: EngineReady;
  readonly #joiner: TransactionJoiner;
  readonly #operations: Operations;
  readonly #owned: OwnedRuns;

  constructor(ready: EngineReady, joiner: TransactionJoiner, operations: Operations, owned: OwnedRuns) {
    this.#ready = ready;
    this.#joiner = joiner;
    this.#operations = operations;
    this.#owned = owned;
  }

  /** @throws ApprovalNotFoundError, AuthorizationDeniedError, what the round refuses with */
  async run({ roundId, scope, where, reason, manager, details, decide }: RoundRequest): Promise<RoundCommandResult> {
    const engine = await this.#ready();
    const caller = this.#operations.caller();
    const known = await engine.store.getRound(roundId, scope);
    if (!known) throw new ApprovalNotFoundError({ round: roundId });
    const { id, runId } = known;
    const join = () => this.#joiner.join({ method: where, manager, needsReadCommitted: true });
    const asked = {
      operation: where,
      runId,
      scope,
      reason,
      caller,
      details: { round: id, node: known.node, ...details },
    };
    return this.#owned.within({ runId, scope, engine, join }, async (transaction) => {
      const entry = await this.#operations.permit(asked, engine, transaction);
      const audit = (answer: Answer): AuditEntry => entry(outcomeOf(answer));
      const result = await engine.store.changeRound(
        { id, runId },
        scope,
        (locked) => answerOf(locked, decide(locked, engine)),
        transaction,
        { audit },
      );
      if (!result) throw new ApprovalNotFoundError({ round: roundId });
      const { kind, error, round } = result.answer;
      if (error) throw error;
      if (kind === 'changed') {
        const hint = { work: result.resumed };
        if (transaction) await engine.announceWithin(transaction, hint);
        else engine.announce(hint);
      }
      return { round, repeated: kind === 'repeated' };
    });
  }
}

function answerOf({ round, now }: LockedRound, answer: RoundAnswer) {
  const change = answer.kind === 'changed' ? answer.change : null;
  return {
    change,
    answer: {
      kind: answer.kind,
      round: change ? changedRound(round, change, now) : round,
      error: answer.kind === 'refused' ? answer.error : null,
    },
  };
}

/** What the audit says came of a call; nothing where it did what was asked. */
function outcomeOf({ kind, error }: Answer): Details | undefined {
  if (error) return { refused: error.code };
  return kind === 'repeated' ? { repeated: true } : undefined;
}
