import type { OwnerBoundary } from '../../context/index.js';
import { digest } from '../../engine/codec/index.js';
import type { NewRun, StartKey } from '../../engine/ports/index.js';
import type { TriggeredRun, TriggeredStart } from '../../runtime/triggers/triggered-start.js';
import type { EnginePort, EngineReady, StartableDefinition } from '../engine-port.js';
import type { ReadStart, RunPreparer } from './run-preparer.js';
import { startKey } from './start-key.js';
import { rateStarts } from './start-rate.js';
import type { SubjectSight } from './subject-sight.js';

/** How long the key of a start lives at least: longer than anything that could ask for the same start again. */
const LEAST_TTL_MS = 24 * 3_600_000;

/**
 * Starts runs for triggers. The start key is internal, made of the trigger and what it starts the run for: a crash, a second
 * process, a second look find the same run (TRIG-1, TRIG-3). Nothing of whoever woke the engine comes along.
 *
 * What the rate says to an instant or an event, which nobody sends again, it says to all who look at it, at once or later: the place is
 * kept by what it was asked for. So there is one run of it, one that runs or one that was refused, which holds a key of its own: that of
 * the start may be a key of the graph's, and free for what comes later. Of a webhook's message all keys stay free: its sender is told to
 * come again (LIMIT-3).
 */
export class TriggerStarter {
  readonly #ready: EngineReady;
  readonly #preparer: RunPreparer;
  readonly #subjects: SubjectSight;
  readonly #boundary: OwnerBoundary;
  readonly #keyTtlMs: number;

  constructor(
    ready: EngineReady,
    preparer: RunPreparer,
    subjects: SubjectSight,
    boundary: OwnerBoundary,
    { keyTtlMs }: { readonly keyTtlMs: number },
  ) {
    this.#ready = ready;
    this.#preparer = preparer;
    this.#subjects = subjects;
    this.#boundary = boundary;
    this.#keyTtlMs = Math.max(keyTtlMs, LEAST_TTL_MS);
  }

  /**
   * @throws UnknownWorkflowError, InvalidInputError, OwnerRequiredError, InvalidOptionsError, MISSING_TRIGGERING_USER; what the store
   * throws
   */
  async start(given: TriggeredStart): Promise<TriggeredRun> {
    const { trigger, ownerId, actor, subject, startAt } = given;
    const engine = await this.#ready();
    // The graph's owner: a shared one that another owner's event starts is not that owner's own of the same id.
    const { definitionId, definitionVersion } = trigger;
    const definition = await engine.definitions.find(definitionId, definitionVersion, trigger.ownerId);
    const options = { owner: ownerId, actor, ...(subject && { subject }), ...(startAt && { startAt }) };
    const read = await this.#preparer.read(options, `trigger ${trigger.triggerId} of ${trigger.definitionId}`);
    const start = { ...read, captured: { ...read.captured, trace: null } };
    return this.#boundary.run(ownerId, () => this.#start(engine, definition, start, given));
  }

  async #start(
    engine: EnginePort,
    definition: StartableDefinition,
    start: ReadStart,
    { trigger, cause, key, given, input, chain, depth }: TriggeredStart,
  ): Promise<TriggeredRun> {
    const { store, nextId } = engine;
    const prepared = await this.#preparer.prepare({ definition, input, start, awaited: false, nextId });
    const { subject, ownerId } = prepared;
    const ttlMs = this.#keyTtlMs;
    const inputDigest = given ?? digest([prepared.input]);
    const ofCause = (...more: readonly string[]): StartKey => ({
      digest: digest(['trigger', trigger.id, ownerId, JSON.stringify(cause), ...more]),
      inputDigest,
      ttlMs,
    });
    const ofStart =
      key === null ? ofCause() : startKey({ ownerId, definitionId: trigger.definitionId, key, input, ttlMs });
    const ofRefusal = 'message' in cause ? null : ofCause('refused');
    const run: NewRun = {
      ...prepared,
      subjectSeen: subject !== null && (await this.#subjects.sees(subject, ownerId)),
      idempotency: ofStart,
      origin: JSON.stringify({ trigger: trigger.id, id: trigger.triggerId, ...cause, depth, chain }),
    };
    const place = { digest: ofCause('place').digest, ownerId, ttlMs };
    const { runs, refused } = await rateStarts(store, [run], definition, ofRefusal ? { place } : {});
    const isRefused = refused.size > 0;
    const [created] = await store.createRuns(
      isRefused && ofRefusal ? runs.map((each) => ({ ...each, idempotency: ofRefusal })) : runs,
    );
    if (created!.created) {
      if (created!.dueInMs > 0) engine.dueIn(created!.dueInMs);
      engine.announce({ work: created!.dueInMs === 0 });
    }
    const digests = [created!.inputDigest, run.idempotency!.inputDigest] as const;
    return {
      runId: created!.runId,
      created: created!.created,
      sameInput: digests[0] === null || digests[0].equals(digests[1]),
      refused: isRefused,
    };
  }
}
