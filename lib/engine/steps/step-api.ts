import { StepNestedError, WaitTimeoutError } from '../../errors/index.js';
import { compileRetryPolicy, type CompiledRetryPolicy, type RetryPolicy } from '../retry/index.js';
import type { LedgerRow, StepKind, SubjectName } from '../ports/step-store.js';
import { formatDuration, parseDurationMs, type Duration } from '../time/index.js';
import { BodyPlan, type BodyContext } from './body-plan.js';
import { CallProblems, instant } from './call-problems.js';
import { ChildPlan } from './child-plan.js';
import { stepOutcome } from './outcome.js';
import { PollPlan, type Polled } from './poll-plan.js';
import type { Replay } from './replay.js';
import type { StepPlan } from './step-call.js';
import { itemScope, stepKey } from './step-key.js';
import { TransactionPlan } from './transaction-plan.js';
import { WaitPlan } from './wait-plan.js';

/** What the API needs from outside the engine. */
export interface StepServices {
  /** Milliseconds that a step's body may be at it without a sign of life. */
  readonly leaseMs: number;
  /** Parses a payload by the schema a wait names. @throws InvalidInputError */
  readonly parse: (schema: unknown, payload: unknown, what: string) => unknown;
  /** @throws InvalidWhereError */
  readonly checkWhere: (where: string) => void;
  /** Starts a child, once for each key. */
  readonly startChild: (key: string, child: ChildRequest) => Promise<{ readonly runId: string }>;
}

export interface ChildRequest {
  readonly workflow: unknown;
  readonly input: unknown;
  readonly waits: boolean;
  /** The child that this one takes the place of, after it failed and the stage was retried; null at first. */
  readonly failed: string | null;
  /** Left out: the highest one served. */
  readonly version?: number;
  readonly queue?: string;
  readonly priority?: number;
  /** Left out: the parent's; null: none. */
  readonly subject?: SubjectName | null;
}

interface TimeoutOptions {
  readonly timeout?: Duration;
  readonly onTimeout?: 'throw' | 'return';
}

interface RunOptions {
  readonly retry?: RetryPolicy;
  readonly leaseFor?: Duration;
}

interface EventOptions extends TimeoutOptions {
  readonly key: string;
  readonly subject?: SubjectName;
  readonly where?: string;
  readonly schema?: unknown;
}

interface SignalOptions extends TimeoutOptions {
  readonly signal?: string;
  readonly schema?: unknown;
}

interface ChildOptions {
  readonly wait?: boolean;
  readonly version?: number;
  readonly queue?: string;
  readonly priority?: number;
  readonly subject?: SubjectName | null;
}

/** One try, unless the call says otherwise: the stage's own retry comes after it. */
const ONCE: CompiledRetryPolicy = compileRetryPolicy({ maxAttempts: 1 }, 'step');

/**
 * `ctx.step`, within one scope. The face that people see types it (`StepApi` in interfaces); here each method checks what it
 * was given and makes the durable call. Nothing is thrown: what is wrong with a call rejects its promise.
 */
export class Steps {
  constructor(
    private readonly replay: Replay,
    private readonly services: StepServices,
    private readonly scope = '',
  ) {}

  run(name: string, body: (step: BodyContext) => unknown, options: RunOptions = {}): Promise<unknown> {
    return this.#call('run', name, (key, problems) => {
      problems.body(body);
      const policy = options.retry === undefined ? ONCE : compileRetryPolicy(options.retry, `step "${name}"`);
      const leaseMs = options.leaseFor === undefined ? this.services.leaseMs : duration(options.leaseFor, 'leaseFor');
      problems.need(leaseMs > 0, 'leaseFor', 'must be longer than nothing');
      return new BodyPlan(this.replay, { key, name, kind: 'run', body, policy, leaseMs });
    });
  }

  once(name: string, body: (step: BodyContext) => unknown): Promise<unknown> {
    return this.#call('once', name, (key, problems) => {
      problems.body(body);
      return new BodyPlan(this.replay, { key, name, kind: 'once', body, policy: ONCE, leaseMs: this.services.leaseMs });
    });
  }

  transaction(
    name: string,
    body: (manager: unknown) => unknown,
    options: Pick<RunOptions, 'retry'> = {},
  ): Promise<unknown> {
    return this.#call('transaction', name, (key, problems) => {
      problems.body(body);
      const policy = options.retry === undefined ? ONCE : compileRetryPolicy(options.retry, `transaction "${name}"`);
      return new TransactionPlan(this.replay, { key, name, body, policy });
    });
  }

  sleep(name: string, time: Duration): Promise<void> {
    return this.#call('sleep', name, (key) => this.#sleep(key, name, { inMs: duration(time, 'duration') }));
  }

  sleepUntil(name: string, date: Date | string): Promise<void> {
    return this.#call('sleep', name, (key, problems) => {
      const at = instant(date);
      problems.need(at !== undefined, 'date', 'must be a valid Date, or an instant as ISO 8601 with its zone');
      return this.#sleep(key, name, { at: at ?? '' });
    });
  }

  waitFor(
    name: string,
    poll: (step: BodyContext) => unknown,
    options: TimeoutOptions & { readonly every: Duration },
  ): Promise<unknown> {
    return this.#call('poll', name, (key, problems) => {
      problems.body(poll);
      problems.onTimeout(options?.onTimeout);
      const everyMs = duration(options?.every, 'every');
      const timeoutMs = optionalDuration(options.timeout);
      const outcome = (polled: Polled): unknown =>
        'timedOut' in polled ? timedOut(`Step "${name}"`, options) : reached(polled.value, options);
      return new PollPlan(this.replay, { key, name, poll, everyMs, timeoutMs, outcome });
    });
  }

  waitForEvent(name: string, options: EventOptions): Promise<unknown> {
    return this.#call('event', name, (key, problems) => {
      problems.key('key', options?.key);
      problems.onTimeout(options?.onTimeout);
      const { subject, where } = options;
      problems.subject(options);
      if (where !== undefined) this.services.checkWhere(where);
      const wait = { eventKey: options.key, subject: subject ?? null, where: where ?? null };
      return this.#message(key, name, 'event', wait, options);
    });
  }

  waitForSignal(name: string, options: SignalOptions = {}): Promise<unknown> {
    return this.#call('signal', name, (key, problems) => {
      const { signal = name } = options;
      problems.key('signal', signal);
      problems.onTimeout(options?.onTimeout);
      return this.#message(key, name, 'signal', { eventKey: signal, subject: null, where: null }, options);
    });
  }

  runWorkflow(name: string, workflow: unknown, input: unknown, options: ChildOptions = {}): Promise<unknown> {
    return this.#call('child', name, (key) => {
      const { wait: waits = true, version, queue, priority } = options;
      const start = (failed: string | null) =>
        this.services.startChild(key, {
          ...{ workflow, input, waits, version, queue, priority, failed },
          ...('subject' in options && { subject: options.subject }),
        });
      return new ChildPlan(this.replay, { key, name, waits, start });
    });
  }

  /** Each item is a scope of its own, so that names in `fn` may repeat; results stand in the order of the items (STEP-10). */
  all<T>(
    name: string,
    items: readonly T[],
    fn: (item: T, step: Steps, index: number) => unknown,
    { concurrency = Infinity }: { readonly concurrency?: number } = {},
  ): Promise<unknown[]> {
    const problems = new CallProblems();
    problems.name(name);
    problems.need(Array.isArray(items), 'items', 'must be an array');
    problems.body(fn);
    const whole = concurrency === Infinity || Number.isInteger(concurrency);
    problems.need(whole && concurrency >= 1, 'concurrency', 'must be a whole number from 1 on');
    const what = `ctx.step.all(${JSON.stringify(name)})`;
    if (problems.any) return this.#refused(what, problems.error(what));
    const occurrence = this.replay.occurrence(this.scope, name);
    const results: unknown[] = [];
    let next = 0;
    let failed = false;
    const lane = async (): Promise<void> => {
      while (next < items.length && !failed) {
        const index = next++;
        const scope = new Steps(this.replay, this.services, itemScope(this.scope, name, occurrence, index));
        try {
          results[index] = await fn(items[index]!, scope, index);
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    };
    const lanes = Array.from({ length: Math.min(concurrency, items.length) }, lane);
    return this.replay.given(
      what,
      Promise.all(lanes).then(() => results),
    );
  }

  #sleep(key: string, name: string, due: { inMs: number } | { at: string }): WaitPlan<void> {
    const rest = { expiresInMs: null, eventKey: null, subject: null, where: null };
    return new WaitPlan<void>(this.replay, { key, name, kind: 'sleep', due, ...rest, outcome: () => undefined });
  }

  #message(
    key: string,
    name: string,
    kind: 'event' | 'signal',
    wait: { eventKey: string; subject: SubjectName | null; where: string | null },
    options: TimeoutOptions & { readonly schema?: unknown },
  ): WaitPlan<unknown> {
    const expiresInMs = optionalDuration(options.timeout);
    const what = `${kind === 'event' ? 'Event' : 'Signal'} "${wait.eventKey}"`;
    const outcome = (row: LedgerRow): unknown => {
      if (row.timedOut) return timedOut(what, options);
      const payload = stepOutcome(row);
      const { schema } = options;
      return reached(schema === undefined ? payload : this.services.parse(schema, payload, what), options);
    };
    return new WaitPlan(this.replay, { key, name, kind, due: null, expiresInMs, ...wait, outcome });
  }

  #call<T>(kind: StepKind, name: string, make: (key: string, problems: CallProblems) => StepPlan<T>): Promise<T> {
    const what = `ctx.${CALLS[kind]}(${JSON.stringify(name)})`;
    const outer = this.replay.host.insideStep;
    if (outer !== undefined) return this.#refused(what, new StepNestedError({ step: String(name), outer }));
    const problems = new CallProblems();
    problems.name(name);
    if (problems.any) return this.#refused(what, problems.error(what));
    try {
      const key = stepKey(this.scope, name, this.replay.occurrence(this.scope, name));
      const plan = make(key, problems);
      return problems.any ? this.#refused(what, problems.error(what)) : this.replay.call(plan);
    } catch (error) {
      return this.#refused(what, error);
    }
  }

  #refused(what: string, error: unknown): Promise<never> {
    return this.replay.given(what, Promise.reject<never>(error instanceof Error ? error : new Error(String(error))));
  }
}

const CALLS: Readonly<Partial<Record<StepKind, string>>> = {
  run: 'step.run',
  once: 'once',
  transaction: 'transaction',
  sleep: 'step.sleep',
  poll: 'step.waitFor',
  event: 'step.waitForEvent',
  signal: 'step.waitForSignal',
  child: 'step.runWorkflow',
};

const duration = (value: Duration, what: string): number => parseDurationMs(value, what);

const optionalDuration = (timeout: Duration | undefined): number | null =>
  timeout === undefined ? null : duration(timeout, 'timeout');

function reached(value: unknown, { onTimeout }: TimeoutOptions): unknown {
  return onTimeout === 'return' ? { timedOut: false, value } : value;
}

function timedOut(what: string, { timeout, onTimeout }: TimeoutOptions): unknown {
  if (onTimeout === 'return') return { timedOut: true };
  throw new WaitTimeoutError({
    what,
    timeout: timeout === undefined ? '' : formatDuration(duration(timeout, 'timeout')),
  });
}
