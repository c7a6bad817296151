import type { CapturedContext, ContextCapture } from '../../context/index.js';
import { decodeJson, encodeJson } from '../../engine/codec/json.js';
import type { NewRun, NextId } from '../../engine/ports/index.js';
import { decideStart } from '../../engine/state/decide.js';
import { InvalidInputError, WorkflowError } from '../../errors/index.js';
import type { StartOptions } from '../../interfaces/index.js';
import type { StartableDefinition } from '../engine-port.js';
import { startKey } from './start-key.js';
import { readStartOptions, type StartSettings } from './start-options.js';

/** The module's settings that shape a new run. */
export interface StartDefaults {
  readonly queue: string;
  readonly maxInputBytes: number;
  readonly keyTtlMs: number;
}

/** The options of a start as they were read: its settings, and whose it is. */
export interface ReadStart {
  readonly settings: StartSettings;
  readonly captured: CapturedContext;
}

export interface CheckRequest {
  readonly definition: Pick<StartableDefinition, 'inputSchema'> & {
    readonly compiled: Pick<StartableDefinition['compiled'], 'id' | 'settings'>;
  };
  readonly input: unknown;
  readonly start: ReadStart;
}

export interface PrepareRequest extends CheckRequest {
  readonly definition: StartableDefinition;
  readonly awaited: boolean;
  readonly nextId: NextId;
}

/** Makes the rows of a new run out of a start: checks everything, writes nothing. */
export class RunPreparer {
  readonly #capture: ContextCapture;
  readonly #defaults: StartDefaults;

  constructor(capture: ContextCapture, defaults: StartDefaults) {
    this.#capture = capture;
    this.#defaults = defaults;
  }

  /** @throws InvalidOptionsError, UndefinedIdError, OwnerRequiredError */
  async read(options: StartOptions, where: string): Promise<ReadStart> {
    return { settings: readStartOptions(options, where), captured: await this.#capture.capture(options, where) };
  }

  /**
   * Checks what a start is given, and makes nothing of it. `parsed` is the input as the first stage reads it.
   *
   * @throws InvalidInputError, or MISSING_TRIGGERING_USER
   */
  async check({
    definition: { compiled, inputSchema },
    input,
    start: { captured },
  }: CheckRequest): Promise<{ readonly text: string; readonly stored: unknown; readonly parsed: unknown }> {
    if (compiled.settings.actor === 'on_behalf_of' && captured.actor === null) {
      throw new WorkflowError('MISSING_TRIGGERING_USER', { workflow: compiled.id });
    }
    const what = `the run of ${compiled.id}`;
    const text = encodeJson(input, {
      kind: 'input',
      what,
      maxBytes: this.#defaults.maxInputBytes,
      limit: 'limits.maxInputBytes',
    });
    const stored = decodeJson(text);
    const parsed = inputSchema && (await inputSchema.safeParseAsync(stored));
    if (parsed?.success === false) throw new InvalidInputError({ what, issues: parsed.error.issues });
    return { text, stored, parsed: parsed ? parsed.data : stored };
  }

  /**
   * The input is stored raw and checked in the form in which the first stage will read it, so that what was accepted
   * here can't be refused there (DEF-5).
   *
   * @throws InvalidInputError, or MISSING_TRIGGERING_USER
   */
  async prepare(request: PrepareRequest): Promise<NewRun> {
    const { text, stored } = await this.check(request);
    const { definition, start, awaited, nextId } = request;
    const { compiled } = definition;
    const { settings, captured } = start;
    const { ownerId, actor, trace } = captured;
    const { idempotencyKey, queue, delayMs, startAt, priority, subject } = settings;
    const id = nextId();
    const context = { nextId, defaultQueue: this.#defaults.queue };
    return {
      id,
      definitionId: compiled.id,
      definitionVersion: compiled.version,
      definitionKey: `${compiled.id}@${compiled.version}#${compiled.fingerprint}`,
      ownerId,
      subject,
      subjectSeen: false,
      actor: actor === null ? null : encodeJson(actor, { kind: 'input', what: 'the actor', maxBytes: MAX_ACTOR_BYTES }),
      trace,
      priority,
      queue,
      input: text,
      delayMs,
      // Whether it has passed only the store's clock says (fault B3).
      startAt,
      deadlineMs: compiled.settings.deadlineMs,
      awaited,
      idempotency:
        idempotencyKey === null
          ? null
          : startKey({
              ownerId,
              definitionId: compiled.id,
              key: idempotencyKey,
              input: stored,
              ttlMs: this.#defaults.keyTtlMs,
            }),
      transition: decideStart(compiled, { id, queue, input: text }, startAt !== null || delayMs > 0, context),
    };
  }
}

/** An actor is an identity, not a document: it rides on every claim and event. */
const MAX_ACTOR_BYTES = 4_096;
