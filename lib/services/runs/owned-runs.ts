import type { OwnerBoundary } from '../../context/index.js';
import type { JoinedTransaction, OwnerScope } from '../../engine/ports/index.js';
import { RunNotFoundError } from '../../errors/index.js';
import type { EnginePort } from '../engine-port.js';

export interface OwnedRun {
  readonly runId: string;
  readonly scope: OwnerScope;
  readonly engine: EnginePort;
  /** The host's transaction, in which the run may just have been started. */
  readonly join: () => Promise<JoinedTransaction | undefined>;
}

/** Does to runs what is asked within the owner whose they are, whoever asks (OWNER-2). */
export class OwnedRuns {
  readonly #boundary: OwnerBoundary;

  constructor(boundary: OwnerBoundary) {
    this.#boundary = boundary;
  }

  /** @throws RunNotFoundError where an operator names a run that nobody has, what `fn` throws */
  async within<T>(run: OwnedRun, fn: (transaction: JoinedTransaction | undefined) => Promise<T>): Promise<T> {
    // Joined inside: the host's context may be what opens the transaction.
    const inside = async (): Promise<T> => fn(await run.join());
    return this.#boundary.guarded ? this.#boundary.run(await ownerOf(run), inside) : inside();
  }
}

async function ownerOf({ runId, scope, engine, join }: OwnedRun): Promise<string | null> {
  if (!('all' in scope)) return scope.owner;
  const row = await engine.store.findRun(runId, scope, await join());
  if (!row) throw new RunNotFoundError({ runId });
  return row.ownerId;
}
