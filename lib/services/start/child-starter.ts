import type { OwnerBoundary } from '../../context/index.js';
import type { CompiledLimits } from '../../engine/limits/index.js';
import { checkNestingDepth, roomFor } from '../../engine/limits/index.js';
import { digest } from '../../engine/codec/index.js';
import type { NewRun, SubjectName, WorkflowStore } from '../../engine/ports/index.js';
import type { ChildRequest } from '../../engine/steps/index.js';
import { ChildNotStartedError, LimitExceededError } from '../../errors/index.js';
import type { WorkflowClass } from '../../interfaces/index.js';
import type { EnginePort, EngineReady, StartableDefinition } from '../engine-port.js';
import type { ReadStart, RunPreparer } from './run-preparer.js';
import type { SubjectSight } from './subject-sight.js';

/** The stage run that starts a child, and by which of its steps. */
export interface ChildParent {
  readonly runId: string;
  readonly depth: number;
  readonly priority: number;
  readonly subject: SubjectName | null;
  readonly stageRunId: string;
  readonly key: string;
}

/**
 * Starts children for steps (STEP-9): owner, actor and trace are the parent's, whose context the step runs in.
 *
 * The start key is internal, made of stage run and step: a crash, a retry or a second worker finds the same child; a rerun has
 * other stage runs, and starts anew (RUN-5); a retry of a step whose child failed starts another in its place. It lives as
 * long as the child.
 */
export class ChildStarter {
  readonly #ready: EngineReady;
  readonly #preparer: RunPreparer;
  readonly #subjects: SubjectSight;
  readonly #boundary: OwnerBoundary;
  readonly #limits: CompiledLimits;

  constructor(
    ready: EngineReady,
    preparer: RunPreparer,
    subjects: SubjectSight,
    boundary: OwnerBoundary,
    limits: CompiledLimits,
  ) {
    this.#ready = ready;
    this.#preparer = preparer;
    this.#subjects = subjects;
    this.#boundary = boundary;
    this.#limits = limits;
  }

  /** The parent's own was its owner's before this attempt of it began. */
  async #sees({ ownerId, subject }: NewRun, parent: ChildParent): Promise<boolean> {
    if (subject === null) return false;
    const own = subject.type === parent.subject?.type && subject.id === parent.subject.id;
    return own || this.#subjects.sees(subject, ownerId);
  }

  /**
   * @throws UnknownWorkflowError, InvalidInputError, LimitExceededError, ChildNotStartedError with a `retryAfterMs` when the rate of
   * the definition has no room, what the store throws
   */
  async start(parent: ChildParent, request: ChildRequest): Promise<{ readonly runId: string }> {
    const { workflow, version, queue, priority = parent.priority } = request;
    checkNestingDepth(this.#limits, parent.depth + 1, `run ${parent.runId}`);
    const engine = await this.#ready();
    const subject = 'subject' in request ? request.subject : parent.subject;
    const options = {
      priority,
      ...(queue !== undefined && { queue }),
      // One that is named and undefined is refused, as in every start.
      ...(subject !== null && { subject }),
    };
    const start = await this.#preparer.read(options, `ctx.step.runWorkflow(${parent.key})`);
    const { ownerId } = start.captured;
    const definition = await engine.definitions.find(workflow as WorkflowClass | string, version, ownerId);
    return this.#boundary.run(ownerId, () => this.#start(engine, definition, start, parent, request));
  }

  async #start(
    engine: EnginePort,
    definition: StartableDefinition,
    start: ReadStart,
    parent: ChildParent,
    { input, waits, failed }: ChildRequest,
  ): Promise<{ readonly runId: string }> {
    const prepared = await this.#preparer.prepare({ definition, input, start, awaited: false, nextId: engine.nextId });
    const { runId, stageRunId, key } = parent;
    const child: NewRun = {
      ...prepared,
      subjectSeen: await this.#sees(prepared, parent),
      idempotency: {
        digest: digest(['child', stageRunId, key, failed]),
        inputDigest: digest([prepared.input]),
        ttlMs: null,
      },
      parent: { runId, stageRunId, key, waits, depth: parent.depth + 1 },
    };
    const { startsPerMinute } = definition.compiled.settings;
    if (startsPerMinute !== null) await this.#checkRate(engine.store, child, startsPerMinute, definition.rateName);
    const [created] = await engine.store.createRuns([child]);
    if (created!.created) engine.announce({ work: true });
    return { runId: created!.runId };
  }

  /** A child has no run of its own to be refused: its stage tries again when there is room (LIMIT-3). */
  async #checkRate(
    store: WorkflowStore,
    child: NewRun,
    perMinute: number,
    rateName: string = child.definitionId,
  ): Promise<void> {
    const { definitionId, idempotency } = child;
    const [started] = await store.heldKeys([idempotency!.digest]);
    if (started) return;
    const { counted, nextInMs } = await store.countStarts(rateName, 1);
    if (roomFor(1, counted, perMinute) > 0) return;
    const limit = { limit: 'limits.startsPerMinute', value: perMinute, actual: perMinute + 1, where: definitionId };
    const cause = new LimitExceededError({ code: 'START_RATE_EXCEEDED', ...limit });
    const { message } = cause;
    throw new ChildNotStartedError({ workflow: definitionId, message }, { cause, retryAfterMs: Math.ceil(nextInMs) });
  }
}
