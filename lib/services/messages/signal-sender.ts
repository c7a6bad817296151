import { digest } from '../../engine/codec/digest.js';
import type { OwnerScope, SignalVerdict } from '../../engine/ports/index.js';
import { RunEndedError, RunNotFoundError, UndefinedIdError } from '../../errors/index.js';
import type { SignalOptions, SignalResult } from '../../interfaces/index.js';
import type { EngineReady } from '../engine-port.js';
import type { Details, Operations } from '../operations/operations.js';
import { reasonOf } from '../operations/reason-of.js';
import type { OwnedRuns } from '../runs/owned-runs.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';
import type { MessageLimits } from './event-sender.js';
import { MessageChecks } from './message-checks.js';

export interface SignalRequest {
  readonly runId: string;
  readonly scope: OwnerScope;
  readonly name: string;
  readonly payload: unknown;
  readonly options: SignalOptions;
  /** The call. */
  readonly where: 'signal';
}

/** What the audit says came of a signal; nothing where its run has it now. */
const OUTCOMES: Readonly<Record<SignalVerdict, Details | undefined>> = {
  delivered: undefined,
  stored: undefined,
  duplicate: { duplicate: true },
  ended: { refused: 'ended' },
};

const KNOWN = ['messageId', 'reason', 'manager'];

/** Sends signals to runs: delivered or kept under the run's lock, so that a stage that falls asleep meanwhile misses none. */
export class SignalSender {
  readonly #ready: EngineReady;
  readonly #joiner: TransactionJoiner;
  readonly #operations: Operations;
  readonly #owned: OwnedRuns;
  readonly #limits: MessageLimits;

  constructor(
    ready: EngineReady,
    joiner: TransactionJoiner,
    operations: Operations,
    owned: OwnedRuns,
    limits: MessageLimits,
  ) {
    this.#ready = ready;
    this.#joiner = joiner;
    this.#operations = operations;
    this.#owned = owned;
    this.#limits = limits;
  }

  /** @throws InvalidEventError, RunNotFoundError, RunEndedError, TransactionRequiredError */
  async signal({ runId, scope, name, payload, options, where }: SignalRequest): Promise<SignalResult> {
    if (scope === undefined) throw new UndefinedIdError({ what: 'owner', where });
    const what = `Signal ${JSON.stringify(name) ?? 'without a name'}`;
    const checks = new MessageChecks(what);
    checks.known(options, KNOWN);
    checks.text('name', name);
    checks.messageId(options.messageId);
    const text = checks.payload(payload, this.#limits.maxPayloadBytes);
    checks.end();
    const reason = reasonOf(options.reason, where);

    const { messageId, manager } = options;
    const engine = await this.#ready();
    const join = () => this.#joiner.join({ method: where, manager, needsReadCommitted: true });
    const event = {
      id: engine.nextId(),
      // Its run says whose it is.
      ownerId: null,
      key: name,
      subject: null,
      payload: text,
      messageDigest: messageId === undefined ? null : digest(['signal', runId, messageId]),
    };
    const asked = { operation: where, runId, scope, reason, details: { name }, caller: this.#operations.caller() };
    return this.#owned.within({ runId, scope, engine, join }, async (transaction) => {
      const entry = await this.#operations.permit(asked, engine, transaction);
      const status = await engine.store.sendSignal(event, runId, scope, transaction, (verdict) =>
        entry(OUTCOMES[verdict]),
      );
      if (status === 'not-found') throw new RunNotFoundError({ runId });
      if (status === 'ended') throw new RunEndedError({ runId, what: `signal ${JSON.stringify(name)}` });
      if (status === 'delivered') {
        if (transaction) await engine.announceWithin(transaction, { work: true });
        else engine.announce({ work: true });
      }
      return { status };
    });
  }
}
