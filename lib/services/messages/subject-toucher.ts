import type { ContextCapture, OwnerBoundary } from '../../context/index.js';
import { isSubject, SUBJECT_RULE } from '../../engine/codec/index.js';
import type { SubjectName } from '../../engine/ports/index.js';
import { InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
import type { TouchOptions, TouchResult, TransactionManager } from '../../interfaces/index.js';
import type { EnginePort, EngineReady } from '../engine-port.js';
import type { TransactionJoiner } from '../transaction/transaction-joiner.js';

const KNOWN = ['owner', 'manager'];

/** Tells the polls of runs that what they are about has changed. */
export class SubjectToucher {
  readonly #ready: EngineReady;
  readonly #capture: ContextCapture;
  readonly #joiner: TransactionJoiner;
  readonly #boundary: OwnerBoundary;

  constructor(ready: EngineReady, capture: ContextCapture, joiner: TransactionJoiner, boundary: OwnerBoundary) {
    this.#ready = ready;
    this.#capture = capture;
    this.#joiner = joiner;
    this.#boundary = boundary;
  }

  /** @throws InvalidOptionsError, UndefinedIdError, TransactionRequiredError */
  async touch(subject: SubjectName, options: TouchOptions, where: string): Promise<TouchResult> {
    const problems: OptionProblem[] = Object.keys(options)
      .filter((name) => !KNOWN.includes(name))
      .map((path) => ({ path, message: `is not an option; there are ${KNOWN.join(', ')}` }));
    if (!isSubject(subject)) problems.push({ path: 'subject', message: SUBJECT_RULE });
    if (problems.length > 0) throw new InvalidOptionsError({ where, problems });

    const engine = await this.#ready();
    const ownerId = await this.#capture.owner(options, where);
    return this.#boundary.run(ownerId, () => this.#touch(engine, subject, ownerId, options.manager, where));
  }

  async #touch(
    engine: EnginePort,
    subject: SubjectName,
    ownerId: string | null,
    manager: TransactionManager | undefined,
    where: string,
  ): Promise<TouchResult> {
    // The waits are read after the locks: a snapshot of before them would not hold those that came meanwhile.
    const transaction = await this.#joiner.join({ method: where, manager, needsReadCommitted: true });
    const { polls, resumed } = await engine.store.touch(subject, ownerId, transaction);
    if (resumed > 0) {
      if (transaction) await engine.announceWithin(transaction, { work: true });
      else engine.announce({ work: true });
    }
    return { polls };
  }
}
