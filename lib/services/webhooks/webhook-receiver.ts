import { isUtf8 } from 'node:buffer';
import { digest } from '../../engine/codec/index.js';
import { thrownMessage } from '../../engine/codec/thrown-text.js';
import { receivedStart, type StartMade, triggerNote, TriggerSpecs } from '../../engine/graph/index.js';
import { ExpressionValues } from '../../engine/expression/index.js';
import type { FoundTrigger, TriggerNote } from '../../engine/ports/index.js';
import { InvalidInputError, isShuttingDown, WorkflowError, type SchemaIssue } from '../../errors/index.js';
import type { RuntimeLog } from '../../runtime/background/runtime-log.js';
import type { StartTriggered } from '../../runtime/triggers/triggered-start.js';
import type { EnginePort, EngineReady } from '../engine-port.js';
import { LONGEST_MESSAGE_ID } from '../messages/message-checks.js';
import { isUuid } from '../runs/run-id.js';
import { signatureProblem, tokenProblem } from './webhook-proof.js';
import { secretsIn, type WebhookSecretsOf } from './webhook-secrets.js';

/** A call of a webhook, as it came. */
export interface WebhookCall {
  readonly hook: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Byte for byte. */
  readonly body: Buffer;
}

/** What is answered, as HTTP. */
export interface WebhookAnswer {
  readonly status: 202 | 400 | 401 | 404 | 409 | 415 | 429 | 500 | 503;
  readonly body: { readonly run: string; readonly created: boolean } | WebhookRefusal;
  readonly retryAfterSeconds?: number;
}

export interface WebhookRefusal {
  readonly code: string;
  readonly message: string;
  readonly issues?: readonly SchemaIssue[];
}

export interface WebhookSettings {
  readonly secrets: WebhookSecretsOf;
  readonly toleranceMs: number;
}

const UNSERVED_RETRY_SECONDS = 30;
/** Another process may start it. */
const UNSERVED: ReadonlySet<string> = new Set(['UNKNOWN_WORKFLOW', 'WORKFLOW_NOT_SERVED']);

/**
 * Lets callers of webhooks in, and starts the runs that they ask for (TRIG-2). Nothing of the body is read before the caller has shown
 * that he may; without a secret nobody may.
 */
export class WebhookReceiver {
  readonly #specs = new TriggerSpecs();

  constructor(
    private readonly ready: EngineReady,
    private readonly start: StartTriggered,
    private readonly log: Pick<RuntimeLog, 'error' | 'warn'>,
    private readonly settings: WebhookSettings,
  ) {}

  /** Rejects with what the store throws and is not "not now", and with what `secrets` throws. */
  async receive(call: WebhookCall): Promise<WebhookAnswer> {
    let engine: EnginePort | undefined;
    try {
      engine = await this.ready();
      return await this.#receive(call, engine);
    } catch (error) {
      const isClosing = isShuttingDown(error);
      if (!isClosing && engine?.store.isTransient(error) !== true) throw error;
      this.log.warn(`Webhook ${call.hook} is answered later: ${thrownMessage(error)}`);
      const code = isClosing ? 'SHUTTING_DOWN' : 'STORE_UNAVAILABLE';
      return { ...refuse(503, code, 'Try again.'), retryAfterSeconds: 5 };
    }
  }

  async #receive(call: WebhookCall, engine: EnginePort): Promise<WebhookAnswer> {
    const found = isUuid(call.hook) ? await engine.store.findHook(call.hook.toLowerCase()) : undefined;
    if (found === undefined) return refuse(404, 'NOT_FOUND', 'There is no such webhook.');
    if (!isUtf8(call.body)) return refuse(415, 'UNSUPPORTED_BODY', 'The body must be text in UTF-8.');
    const body = call.body.toString('utf8');
    const now = Date.parse(await engine.store.now());
    const compiled = this.#specs.of(found.spec);
    const { auth } = compiled.trigger as { readonly auth: 'signature' | 'token' };
    const problem = await this.#problem(found, auth, { headers: call.headers, body }, now);
    if (problem !== null) return refuse(401, 'UNAUTHORIZED', `The call is not let in: ${problem}.`);
    const received = payloadOf(body, call.headers['content-type']);
    if (!received.ok) return refuse(400, 'INVALID_INPUT', received.problem);
    const values = new ExpressionValues({ event: received.value, owner: found.ownerId, now: new Date(now) });
    const made = receivedStart(compiled, values, received.value, null);
    if (!made.ok) return refuse(400, 'INVALID_INPUT', `The body does not fit: ${made.problem}.`);
    // One that is empty says nothing of which message it is.
    const message = call.headers['webhook-id'] || undefined;
    if (message !== undefined && message.length > LONGEST_MESSAGE_ID)
      return refuse(400, 'INVALID_INPUT', `webhook-id is longer than ${LONGEST_MESSAGE_ID} characters.`);
    return this.#start(engine, found, made.start, message, digest([body]), now);
  }

  async #problem(
    found: FoundTrigger,
    auth: 'signature' | 'token',
    shown: Parameters<typeof signatureProblem>[0],
    now: number,
  ): Promise<string | null> {
    const { id: hook, triggerId: trigger, definitionId: definition, ownerId: owner } = found;
    const secrets = secretsIn(await this.settings.secrets({ hook, trigger, definition, owner }));
    const name = `Webhook ${trigger} of ${definition}`;
    if (secrets.length === 0) this.log.error(`${name} has no secret: nobody is let in. Let secrets() return one.`);
    if (auth === 'token') return tokenProblem(shown, secrets);
    const { toleranceMs } = this.settings;
    return signatureProblem(shown, secrets, { now, toleranceMs }, (error) =>
      this.log.error(`A secret of ${name} is none (whsec_ and Base64): ${thrownMessage(error)}`),
    );
  }

  async #start(
    engine: EnginePort,
    found: FoundTrigger,
    made: StartMade,
    message: string | undefined,
    body: Buffer,
    now: number,
  ): Promise<WebhookAnswer> {
    const note = (given: Partial<TriggerNote>): Promise<void> => engine.store.noteTrigger(found.id, triggerNote(given));
    try {
      const { runId, created, refused, sameInput } = await this.start({
        trigger: found,
        cause: { message: message ?? engine.nextId() },
        ownerId: found.ownerId,
        actor: null,
        ...made,
        given: body,
        startAt: null,
        chain: [],
        depth: 1,
      });
      if (refused) {
        await note({ runId, outcome: 'refused', passedOver: 1 });
        const text = `${found.definitionId} has been started as often as it may within a minute.`;
        const retryAfterSeconds = 60 - (Math.floor(now / 1_000) % 60);
        return { ...refuse(429, 'START_RATE_EXCEEDED', text), retryAfterSeconds };
      }
      if (!sameInput && made.key === null)
        return refuse(409, 'IDEMPOTENCY_CONFLICT', `webhook-id ${message ?? ''} came before, with another body.`);
      // The run is there: who is told to send it again, and has no webhook-id to find it by, would start another.
      if (created)
        await note({ runId, outcome: 'started', started: 1 }).catch((error: unknown) =>
          this.log.warn(`That webhook ${found.triggerId} started run ${runId} is not counted: ${thrownMessage(error)}`),
        );
      return { status: 202, body: { run: runId, created } };
    } catch (error) {
      if (error instanceof InvalidInputError) {
        await note({ outcome: 'failed', error: error.message, passedOver: 1 });
        return { status: 400, body: { code: error.code, message: error.message, issues: error.issues } };
      }
      if (!WorkflowError.is(error) || isShuttingDown(error) || engine.store.isTransient(error)) throw error;
      if (UNSERVED.has(error.code)) {
        this.log.warn(`Webhook ${found.triggerId} started no run here: ${thrownMessage(error)}`);
        return { ...refuse(503, error.code, 'Try again.'), retryAfterSeconds: UNSERVED_RETRY_SECONDS };
      }
      // Nothing that the sender could mend: he is told no more of it than its name.
      this.log.error(`Webhook ${found.triggerId} of ${found.definitionId} started no run: ${thrownMessage(error)}`);
      await note({ outcome: 'failed', error: error.message, passedOver: 1 });
      return refuse(500, error.code, `${found.definitionId} cannot be started by this webhook as it is now.`);
    }
  }
}

const refuse = (status: WebhookAnswer['status'], code: string, message: string): WebhookAnswer => ({
  status,
  body: { code, message },
});

/** JSON, unless it says that it is something else: then it is the text as it came. */
function payloadOf(
  body: string,
  contentType = 'application/json',
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string } {
  if (!/^\s*(application|text)\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) return { ok: true, value: body };
  if (body.trim() === '') return { ok: true, value: null };
  try {
    return { ok: true, value: JSON.parse(body) as unknown };
  } catch (error) {
    return { ok: false, problem: `The body is no JSON: ${thrownMessage(error)}.` };
  }
}
