import { describeFailure, encodeJson, type FailureRecord } from '../../engine/codec/index.js';
import { decideRetry, mayBeOfShutdown } from '../../engine/retry/index.js';
import type { StageOutcome } from '../../engine/state/rows.js';
import type { NextId } from '../../engine/ports/index.js';
import type { ReplayStop } from '../../engine/steps/index.js';
import { formatDuration } from '../../engine/time/index.js';
import { StageTimeoutError, WorkflowError } from '../../errors/index.js';
import type { Deadline, Deadlines } from '../background/deadlines.js';
import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import { scopeOf, type SystemActor } from './acting.js';
import { admission, type AdmissionParts } from './admission.js';
import { AttemptContext, type AttemptOpeners } from './attempt-context.js';
import type { AttemptEnd, RecordedWithin } from './attempt-end.js';
import { AttemptNotebook } from './attempt-notebook.js';
import { AttemptSubject } from './attempt-subject.js';
import type { Attempt } from './attempt.js';
import { AttemptReplay, isInsideStep, type AttemptReplayParts } from '../steps/attempt-replay.js';
import { beginWaiting, checkCompletion, completionRow, suspensionOf, type Completion } from './completion.js';
import type { ContextScope } from './context-scope.js';
import type { DefinitionSource, RunnableStage } from './definition-source.js';
import { EscalationAttempt } from './escalation-attempt.js';
import { NodeAttempt, outcomeOf, type AtNode, type NodeAttemptParts } from './node-attempt.js';
import { namedEndOf } from './outcome.js';
import { parseOutput } from './parse-payload.js';
import { isSkipped } from './skipped.js';
import type { ServedNode } from './served-stages.js';
import type { StageGate } from './stage-gate.js';
import type { SubjectSource } from './subject-source.js';
import { readInput } from './stage-input.js';
import { suspendingOf } from './suspended.js';

export interface StageExecutionParts {
  readonly definitions: DefinitionSource;
  readonly scope: ContextScope;
  readonly systemActor: SystemActor;
  readonly gate: StageGate;
  readonly subjects: SubjectSource;
  readonly deadlines: Deadlines;
  readonly log: RuntimeLog;
  readonly random: () => number;
  /** Bytes of one output as JSON (LIMIT-6). */
  readonly maxOutputBytes: number;
  readonly nextId: NextId;
  /** What nodes of the engine's own need of it. */
  readonly nodes: NodeAttemptParts;
  /** Writes a completed outcome with what `ctx.recordWith` was given. Rejects with what that threw, rolled back. */
  readonly recordWithin: (attempt: Attempt, outcome: CompletedOutcome) => Promise<RecordedWithin>;
  /** What durable calls need, but for whether this execution drains. */
  readonly steps: Omit<AttemptReplayParts, 'draining'>;
}

/** What became of the body. */
type BodyEnd =
  | ({ readonly kind: 'recorded' } & RecordedWithin)
  | { readonly kind: 'ended'; readonly outcome: StageOutcome }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'stopped'; readonly stop: ReplayStop }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'abandoned' };

/** The one outcome that the host's writes go with. */
export type CompletedOutcome = Extract<StageOutcome, { kind: 'completed' }>;

/** What is called with the context: the body itself, or the hook that undoes it. */
type Call = (handler: RunnableStage, context: AttemptContext) => Promise<BodyEnd>;

/**
 * Runs one attempt of a stage, from its stored input to the outcome to record. Knows nothing of leases, jobs or rows.
 *
 * Whatever is thrown on the way, by the body, by a schema, by the host's owner loading or by the making of the provider, is
 * an outcome; nothing rejects, and no rejection is left unhandled, also not of a body that goes on after its attempt is over.
 */
export class StageExecution {
  /** Shutdown has begun: what throws now may throw because the host's own clients are closed (LEASE-6). */
  draining = false;
  readonly #admission: AdmissionParts;
  readonly #openers: AttemptOpeners;

  constructor(private readonly parts: StageExecutionParts) {
    const { gate, nextId, steps } = parts;
    this.#admission = { gate, ledger: (id) => steps.writer.read(id) };
    const replayParts: AttemptReplayParts = { ...steps, draining: () => this.draining };
    this.#openers = {
      replay: (attempt) => new AttemptReplay(attempt, replayParts),
      notebook: (attempt) => {
        const { run, stageRun } = attempt.job;
        const of = { stageRunId: stageRun.id, attempt: stageRun.attempt, actor: run.actor };
        return new AttemptNotebook(of, nextId, () => attempt.checking || isInsideStep());
      },
    };
  }

  /** Runs the body, its time limit around it. Never rejects. */
  async run(attempt: Attempt): Promise<AttemptEnd> {
    const end = await this.#race(attempt, () => this.#body(attempt));
    return this.#judge(attempt, end);
  }

  /** Calls the stage's `cancel(ctx)` in the owner's context. Returns what it threw, or undefined. Never rejects. */
  async undo(attempt: Attempt): Promise<{ readonly failure: FailureRecord } | undefined> {
    const end = await this.#race(attempt, () =>
      this.#inContext(attempt, async (handler, context) => {
        await handler.cancel?.(context);
        return { kind: 'ended', outcome: { kind: 'skipped', reason: '' } };
      }),
    );
    attempt.over = true;
    if (end.kind === 'ended' || end.kind === 'recorded') return undefined;
    return { failure: this.#failureOf(attempt, end) };
  }

  /** Whichever comes first: the body's end, the time limit, or that the process can't wait any longer. */
  #race(attempt: Attempt, body: () => Promise<BodyEnd>): Promise<BodyEnd> {
    return new Promise((resolve) => {
      const { timeoutMs } = attempt.served.stage;
      let deadline: Deadline | undefined;
      const finish = (end: BodyEnd): void => {
        if (attempt.over) return this.#late(attempt, end);
        attempt.over = true;
        this.parts.deadlines.drop(deadline);
        attempt.abandon = undefined;
        attempt.interrupt = undefined;
        resolve(end);
      };
      attempt.abandon = () => finish({ kind: 'abandoned' });
      attempt.interrupt = (stop) => {
        attempt.drop();
        finish({ kind: 'stopped', stop });
      };
      if (timeoutMs !== null) {
        deadline = this.parts.deadlines.add(timeoutMs, () => {
          attempt.abort('timeout');
          finish({ kind: 'timed-out' });
        });
      }
      body().then(finish, (error: unknown) => finish({ kind: 'threw', error }));
    });
  }

  async #body(attempt: Attempt): Promise<BodyEnd> {
    const { stage, type } = attempt.served;
    return this.#inContext(attempt, async (handler, context) => {
      const completion = await this.#complete(attempt, handler, context);
      // Not over before what it began is; then, whatever it still awaits must not put the stage to sleep.
      await attempt.replay?.replay.returned();
      if (completion.kind === 'waits') {
        const orders = attempt.replay?.replay.orders ?? [];
        return { kind: 'stopped', stop: { kind: 'suspended', suspension: suspensionOf(completion.wait, orders) } };
      }
      if (isSkipped(completion.value)) {
        return { kind: 'ended', outcome: { kind: 'skipped', reason: completion.value.reason } };
      }
      const what = `Stage ${stage.key}`;
      const named = namedEndOf(completion.value);
      const name = outcomeOf(attempt, named?.name ?? null);
      const value = await parseOutput(type.outputSchema, named ? named.output : completion.value, what);
      const output = encodeJson(value, { what, maxBytes: this.parts.maxOutputBytes, limit: 'limits.maxOutputBytes' });
      const outcome = { kind: 'completed', output, ...(name !== null && { outcome: name }) } as const;
      if (!attempt.writes) return { kind: 'ended', outcome };
      attempt.ended = attempt.replay?.replay.end();
      return { kind: 'recorded', ...(await this.parts.recordWithin(attempt, outcome)) };
    });
  }

  /** The body, or the check of a stage that suspended itself: `execute` is not begun anew as if it had not (RETRY-4). */
  async #complete(attempt: Attempt, handler: RunnableStage, context: AttemptContext): Promise<Completion> {
    const { key } = attempt.served.stage;
    const { maxOutputBytes, steps } = this.parts;
    if (typeof handler.checkCompletion === 'function') {
      const row = await completionRow(attempt, (id) => steps.writer.read(id));
      attempt.checking = row !== null;
      if (row) return checkCompletion(handler, key, row, context, maxOutputBytes);
    }
    const returned = await handler.execute(context);
    const suspending = suspendingOf(returned);
    if (!suspending) return { kind: 'output', value: returned };
    return { kind: 'waits', wait: beginWaiting(handler, key, suspending, maxOutputBytes) };
  }

  async #inContext(attempt: Attempt, call: Call): Promise<BodyEnd> {
    const { definitions, log, scope, subjects, systemActor } = this.parts;
    const { job, served } = attempt;
    const surroundings = await scopeOf(job, served.compiled, systemActor);
    const subject = new AttemptSubject(job.run, subjects);
    const inside = async (owner: unknown): Promise<BodyEnd> => {
      const { actor } = surroundings;
      const given = { owner, actor, subject, definitions, log, open: this.#openers };
      const { ofGraph } = served;
      const atNode = ofGraph && this.#atNode(ofGraph, attempt, new AttemptContext(attempt, given, null));
      // Not before a cancel hook: what was begun with leave may be undone without.
      if (job.kind === 'execute') {
        // A run that is about nothing, and a stage that nobody is asked about, cost no tick.
        const loading = subject.check();
        const loaded = loading ? await loading : null;
        if (atNode && (await atNode.isLeftOut()))
          return { kind: 'ended', outcome: { kind: 'skipped', reason: 'when' } };
        const admitted = admission(attempt, { owner, actor, subject: loaded }, this.#admission);
        if (admitted) await admitted;
        // Either may have taken seconds: nothing of the stage is begun for an attempt that is over by now.
        if ((loading || admitted) && isOver(attempt)) return { kind: 'abandoned' };
      }
      const input = await readInput(job, served, atNode);
      const handler =
        atNode?.handler ??
        (await definitions.resolve(served.type, {
          runId: job.run.id,
          stageRunId: job.stageRun.id,
          attempt: job.stageRun.attempt,
          ownerId: job.run.ownerId,
        }));
      return call(handler, new AttemptContext(attempt, given, input));
    };
    return scope.run(surroundings, inside, () => attempt.dropped());
  }

  #atNode(served: ServedNode, attempt: Attempt, ctx: AttemptContext): AtNode {
    const { nodes } = this.parts;
    return served.escalation
      ? new EscalationAttempt(served, served.escalation, attempt, ctx, nodes)
      : new NodeAttempt(served, attempt, ctx, nodes);
  }

  #judge(attempt: Attempt, end: BodyEnd): AttemptEnd {
    // Whatever it came to: a replay whose attempt is over looks at nothing any more.
    attempt.ended ??= attempt.replay?.replay.end(end.kind === 'threw' ? { error: end.error } : undefined);
    // Before what the heartbeat says: it is what the store says.
    if (end.kind === 'recorded') return end;
    if (attempt.cancelled) return { kind: 'discarded', because: 'cancelled' };
    if (attempt.leaseLost) return { kind: 'discarded', because: 'lease-lost' };
    if (end.kind === 'ended') return end.outcome;
    if (end.kind === 'stopped' && end.stop.kind === 'suspended') {
      attempt.abort('suspended');
      return end.stop;
    }
    if (end.kind === 'stopped' && (end.stop.kind === 'unfenced' || end.stop.kind === 'crashed')) return end.stop;
    if (
      end.kind === 'abandoned' ||
      (end.kind === 'stopped' && (end.stop.kind === 'shutdown' || (this.draining && end.stop.kind === 'broken'))) ||
      (this.draining &&
        end.kind === 'threw' &&
        mayBeOfShutdown(WorkflowError.is(end.error) ? end.error.code : 'EXCEPTION'))
    ) {
      return { kind: 'released', reason: 'shutdown', delayMs: 0 };
    }
    const failure = this.#failureOf(attempt, end);
    const { attempt: number, budgetFrom } = attempt.job.stageRun;
    const policy = attempt.served.stage.retry;
    const decision = decideRetry({ policy, attempt: number, budgetFrom, failure, random: this.parts.random });
    return decision.retry ? { kind: 'retry', failure, delayMs: decision.delayMs } : { kind: 'failed', failure };
  }

  #failureOf(attempt: Attempt, end: Exclude<BodyEnd, { kind: 'ended' | 'recorded' }>): FailureRecord {
    const { key, timeoutMs } = attempt.served.stage;
    if (end.kind === 'threw') return describeFailure(end.error, { now: Date.now() });
    // The ledger could not be written: no fault of the stage's, but nothing it could go on with.
    if (end.kind === 'stopped' && end.stop.kind === 'broken') return describeFailure(end.stop.error);
    const error = new StageTimeoutError({ stage: key, timeout: formatDuration(timeoutMs ?? 0) });
    // Where the engine made the error says nothing about the stage.
    return { ...describeFailure(error), stack: undefined };
  }

  /** A body that went on after its attempt was over: its end is told, and counts for nothing. */
  #late(attempt: Attempt, end: BodyEnd): void {
    const { run, stageRun } = attempt.job;
    const where = `Attempt ${stageRun.attempt} of stage ${stageRun.key} (${stageRun.id}) of run ${run.id}`;
    if (end.kind === 'threw') this.parts.log.warn(`${where} threw after it was over: ${errorLine(end.error)}`);
    else if (end.kind === 'ended') this.parts.log.debug(`${where} ended after it was over; its result was dropped.`);
  }
}

function isOver({ over, cancelled, leaseLost }: Attempt): boolean {
  return over || cancelled || leaseLost;
}
