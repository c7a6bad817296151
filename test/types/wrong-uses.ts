import { z } from 'zod';
import { OnWorkflowEvent, Stage, Workflow } from '../../lib/decorators/index.js';
import { graph } from '../../lib/engine/graph/index.js';
import type {
  CompletionCheck,
  Flow,
  StageContext,
  StageHandler,
  WorkflowBlueprint,
  WorkflowEvent,
  WorkflowModuleOptions,
} from '../../lib/interfaces/index.js';
import type { TypedCalls } from './service.js';
import {
  Detect,
  DocumentAnalysis,
  ExtractText,
  Keywords,
  Notify,
  Pages,
  Sentiment,
  WriteReport,
  input,
  plain,
  senti,
} from './stages.js';

// Every line after a `@ts-expect-error` must be an error; types.spec.ts checks each with and without its directive.
declare const workflows: TypedCalls;
declare const flow: Flow<typeof input>;
declare const context: StageContext;
const keywords = { stage: Keywords, config: { top: 3 } };

export function pipes() {
  // @ts-expect-error what precedes does not fit
  flow.pipe(Sentiment);
  // @ts-expect-error config without a default is missing
  flow.pipe(ExtractText).pipe(Keywords);
  // @ts-expect-error options given, config missing
  flow.pipe(ExtractText).pipe(Keywords, { when: () => true });
  // @ts-expect-error wrong config
  flow.pipe(ExtractText, { config: { maxLength: 'x' } });
  // @ts-expect-error unknown config key
  flow.pipe(ExtractText, { config: { maxLenght: 1 } });
  // @ts-expect-error a stage without config is given one
  flow.pipe(ExtractText).pipe(Sentiment, { config: { a: 1 } });
  // @ts-expect-error `when` makes undefined, Sentiment does not take it
  flow.pipe(ExtractText, { when: () => true }).pipe(Sentiment);
  // @ts-expect-error a stage that may skip itself makes undefined
  flow.pipe(ExtractText).pipe(Detect).pipe(Notify);
  // @ts-expect-error `when` reads what the node before does not yield
  flow.pipe(ExtractText).pipe(Sentiment, { when: ({ input: given }) => given.wrods > 1 });
  // @ts-expect-error `when` is no promise: decisions are made inside a transaction
  flow.pipe(ExtractText, { when: async () => true });
  // @ts-expect-error a class that is no stage
  flow.pipe(Pages);
  const notified = flow.pipe(ExtractText).parallel({ sentiment: Sentiment, keywords }).pipe(WriteReport).pipe(Notify);
  // @ts-expect-error no output, followed by a stage that wants something
  notified.pipe(Sentiment);
  // @ts-expect-error a policy's backoff is durations
  flow.pipe(ExtractText, { retry: { backoff: [true] } });
}

export function parallels() {
  // @ts-expect-error a branch does not fit
  flow.parallel({ s: Sentiment });
  // @ts-expect-error a branch without its config
  flow.pipe(ExtractText).parallel({ k: Keywords });
  // @ts-expect-error a branch with wrong config
  flow.pipe(ExtractText).parallel({ k: { stage: Keywords, config: { top: 'x' } } });
  // @ts-expect-error the stage after wants another branch
  flow.pipe(ExtractText).parallel({ sentiment: Sentiment }).pipe(WriteReport);
  const halved = flow.pipe(ExtractText).parallel({ sentiment: { stage: Sentiment, when: () => true }, keywords });
  // @ts-expect-error a branch that may be skipped is undefined for the stage after
  halved.pipe(WriteReport);
}

export async function starts() {
  // @ts-expect-error wrong input
  void workflows.start(DocumentAnalysis, { uri: 'x' });
  // @ts-expect-error a class that is no workflow
  void workflows.start(Pages, {});
  // @ts-expect-error an owner is a text or null
  void workflows.start(DocumentAnalysis, { url: 'x' }, { owner: 7 });
  // @ts-expect-error an option that does not exist
  void workflows.start(DocumentAnalysis, { url: 'x' }, { idempotenceKey: 'k' });
  // @ts-expect-error the output has no such field
  void (await workflows.startAndWait(DocumentAnalysis, { url: 'x' })).text;
}

export function contexts() {
  // @ts-expect-error the output of an earlier stage has no such field
  void context.require(ExtractText).txet;
  // @ts-expect-error may be undefined
  void context.optional(Sentiment).score;
  // @ts-expect-error a skip without a reason
  void context.skip();
  // @ts-expect-error a level that is none
  context.log('a', 'debug');
  // @ts-expect-error a suspension without an interval: nothing would ask again
  void context.suspend({ state: 1 });
  // @ts-expect-error a scope that is none
  context.annotate('a', 1, { scope: 'owner' });
}

export async function steps() {
  const { step } = context;
  // @ts-expect-error nothing returned is null, not undefined
  const none: undefined = await step.run('a', async () => {});
  // @ts-expect-error a Date comes back as none
  (await step.run('b', () => ({ at: new Date() }))).at.getTime();
  // @ts-expect-error a Map comes back as none
  (await context.once('c', async () => new Map([['a', 1]]))).get('a');
  // @ts-expect-error a step without a body
  await step.run('d');
  // @ts-expect-error a step without a name
  await step.run(() => 1);
  // @ts-expect-error an option that does not exist
  await step.run('e', () => 1, { retries: 3 });
  // @ts-expect-error a duration is a number or a text
  await step.sleep('f', new Date());
  // @ts-expect-error an instant is a Date or a text
  await step.sleepUntil('g', 5);
  // @ts-expect-error an item's body is asynchronous: it awaits its steps
  await step.all('h', [1], (item) => item);
  return none;
}

export async function waits() {
  const { step } = context;
  // @ts-expect-error a poll without an interval
  await step.waitFor('a', () => true, {});
  // @ts-expect-error the value that is waited for is never undefined, nor anything else
  const found: string = await step.waitFor('b', () => (context.attempt > 1 ? 1 : undefined), { every: '1m' });
  // @ts-expect-error a timeout that is returned without a timeout
  await step.waitFor('c', () => true, { every: '1m', onTimeout: 'return' });
  const late = await step.waitForSignal('d', { timeout: '1m', onTimeout: 'return' });
  // @ts-expect-error the value is there only where it did not time out
  void late.value;
  // @ts-expect-error a wait for any event at all
  await step.waitForEvent('e', { timeout: '1m' });
  // @ts-expect-error a subject is a type and an id
  await step.waitForEvent('f', { key: 'k', subject: 'invoice:7' });
  const event = await step.waitForEvent('g', { key: 'k' });
  // @ts-expect-error an event without a schema is unknown
  void event.amount;
  const typed = await step.waitForEvent('h', { key: 'k', schema: input });
  // @ts-expect-error an event has what its schema says
  void typed.uri;
  return found;
}

export async function children() {
  const { step } = context;
  // @ts-expect-error wrong input of a child
  await step.runWorkflow('a', DocumentAnalysis, { uri: 'x' });
  // @ts-expect-error a class that is no workflow as a child
  await step.runWorkflow('b', Pages, {});
  // @ts-expect-error a child that nobody waits for has no output
  void (await step.runWorkflow('c', DocumentAnalysis, { url: 'x' }, { wait: false })).report;
  // @ts-expect-error a child that is waited for has no id
  void (await step.runWorkflow('d', DocumentAnalysis, { url: 'x' })).runId;
}

// @ts-expect-error decorator and handler name different schemas
@Stage({ id: 'x', ...senti })
export class Mixed implements StageHandler<typeof plain> {
  async execute(_ctx: StageContext<typeof plain>) {}
}

export class WrongReturn implements StageHandler<typeof senti> {
  // @ts-expect-error returns what its output schema does not take
  execute(_ctx: StageContext<typeof senti>) {
    return { score: 'x' };
  }
}

// @ts-expect-error no execute
@Stage({ id: 'y', ...senti })
export class NoExecute {}

// @ts-expect-error `execute` does not name its ctx
@Stage({ id: 'z', ...senti })
export class NoContext {
  execute() {
    return { score: 1 };
  }
}

// @ts-expect-error a duration is a number or a text
@Stage({ id: 'd', ...senti, timeout: new Date() })
export class WrongTimeout implements StageHandler<typeof senti> {
  execute(_ctx: StageContext<typeof senti>) {
    return { score: 1 };
  }
}

// @ts-expect-error the decorator's input is not the one that `define` names
@Workflow({ id: 'w', version: 1, input: z.object({ other: z.number() }) })
export class OtherInput implements WorkflowBlueprint<typeof input> {
  define(given: Flow<typeof input>) {
    return given.pipe(ExtractText);
  }
}

// @ts-expect-error suspends itself, and nothing ends it
@Stage({ id: 'e', ...senti })
export class NeverEnds implements StageHandler<typeof senti> {
  async execute(ctx: StageContext<typeof senti>) {
    return ctx.suspend({ every: '1m' });
  }
}

export class WrongCompletion implements StageHandler<typeof senti> {
  execute(ctx: StageContext<typeof senti>) {
    return ctx.suspend({ every: '1m' });
  }

  // @ts-expect-error completes with what its output schema does not take
  checkCompletion(): CompletionCheck<{ score: string }> {
    return { status: 'ready', output: { score: 'x' } };
  }
}

// @ts-expect-error no define
@Workflow({ id: 'v', version: 1, input })
export class NoDefine {}

export class Listener {
  // @ts-expect-error no such event
  @OnWorkflowEvent('run:finished')
  finished() {}

  // @ts-expect-error the method takes another event
  @OnWorkflowEvent('run:completed')
  failed(_event: WorkflowEvent<'run:failed'>) {}
}

export const options: WorkflowModuleOptions[] = [
  // @ts-expect-error unknown option
  { workers: { concurrency: 2 } },
  // @ts-expect-error wrong value
  { migrations: 'maybe' },
  // @ts-expect-error an event is kept for a duration
  { events: { retention: true } },
  // @ts-expect-error a number
  { worker: { concurrency: '5' } },
];

export const graphs = [
  // @ts-expect-error one way of two
  graph('a').condition('c', 'input.ok', { true: 'x' }),
  // @ts-expect-error a condition does not end with yes
  graph('b').condition('c', 'input.ok', { true: 'x', false: 'y', yes: 'z' }),
  // @ts-expect-error durations are texts
  graph('c').wait('w', { timer: 5_000 }),
  // @ts-expect-error no such rule
  graph('d').approval('a', { approvers: ['u1'], rule: 'most' }, { approved: 'x', rejected: 'y' }),
  // @ts-expect-error an end leads nowhere
  graph('e').end('e', { outcome: 'x' }, { when: 'input.ok' }),
  // @ts-expect-error no such setting
  graph('f').settings({ owner: 'system' }),
];
