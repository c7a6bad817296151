import type { OwnerBoundary } from '../../context/index.js';
import { digest } from '../../engine/codec/index.js';
import type { NewRun, StartKey, WorkflowStore } from '../../engine/ports/index.js';
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
 * What the rate refuses is over for an instant or an event, which nobody sends again: the refused run holds a key of theirs, so that
 * whoever looks again finds it. It is not the key of the start: of two who look at once one may be refused since the other has the last
 * place, and that one's run must not be taken for made. Of a webhook's message all keys stay free: its sender is told to come again (LIMIT-3).
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
    const wasRefused = ofRefusal !== null && (await isRefusal(store, definition, ofRefusal, ofStart));
    const run: NewRun = {
      ...prepared,
      subjectSeen: subject !== null && (await this.#subjects.sees(subject, ownerId)),
      idempotency: wasRefused ? ofRefusal : ofStart,
      origin: JSON.stringify({ trigger: trigger.id, id: trigger.triggerId, ...cause, depth, chain }),
    };
    const { runs, refused } = await rateStarts(store, [run], definition);
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
      refused: isRefused || wasRefused,
    };
  }
}

/** Whether a start of a definition with a rate was refused before, and nobody else found room for it in the same moment. */
async function isRefusal(
  store: Pick<WorkflowStore, 'heldKeys'>,
  { compiled }: StartableDefinition,
  ofRefusal: StartKey,
  ofStart: StartKey,
): Promise<boolean> {
  if (compiled.settings.startsPerMinute === null) return false;
  const [refused, started] = await store.heldKeys([ofRefusal.digest, ofStart.digest]);
  return refused! && !started!;
}
