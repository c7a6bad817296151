import { type Graph, graph, toMermaid } from '../../lib/engine/graph/index.js';
import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { OnWorkflowEvent } from '../../lib/decorators/index.js';
import type {
  EmitEvent,
  Flow,
  InputOf,
  NotStorable,
  OutputOf,
  SignalOptions,
  StageContext,
  Stored,
  WorkflowEvent,
  WorkflowModuleOptions,
} from '../../lib/interfaces/index.js';
import type { TypedCalls } from './service.js';
import {
  Dated,
  Detect,
  DocumentAnalysis,
  ExtractText,
  Keywords,
  Notify,
  Render,
  Sentiment,
  Small,
  WriteReport,
  input,
} from './stages.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_equal: Equal<A, B>): void => {};
type Yield<F> = F extends Flow<any, infer O, any> ? O : never;

declare const workflows: TypedCalls;
declare const flow: Flow<typeof input>;
declare const context: StageContext;

export async function startsAndResults() {
  const { run } = await workflows.start(
    DocumentAnalysis,
    { url: 'https://x' },
    { idempotencyKey: 'k', delay: '5m', owner: null },
  );
  const first = await workflows.result(run);
  same<typeof first, { report: string }>(true);
  const second = await workflows.startAndWait(DocumentAnalysis, { url: 'https://x', tags: ['a'] });
  same<typeof second, { report: string }>(true);
  const third = await workflows.result('id', DocumentAnalysis);
  same<typeof third, { report: string }>(true);
  const fourth = await workflows.result('id');
  same<typeof fourth, unknown>(true);
  const fifth = await workflows.start('document-analysis', { any: 'thing' });
  same<typeof fifth.run.id, string>(true);
}

export function pipes() {
  flow.pipe(ExtractText);
  flow.pipe(ExtractText, { key: 'again', retry: { maxAttempts: 1 }, timeout: '30s', queue: 'q' });
  flow.pipe(ExtractText).pipe(Keywords, { config: { top: 1 } });
  flow.pipe(ExtractText, { when: ({ input: given, run }) => given.tags !== undefined && run.input.url !== '' });
  flow.pipe(ExtractText).pipe(Sentiment, { when: ({ input: given }) => given.words > 100 });

  const conditional = flow.pipe(ExtractText, { when: () => true });
  same<Yield<typeof conditional>, { text: string; words: number } | undefined>(true);

  const skippable = flow.pipe(ExtractText).pipe(Detect);
  same<Yield<typeof skippable>, { language: string } | undefined>(true);
  same<OutputOf<typeof Detect>, { language: string } | undefined>(true);

  const transformed = flow.pipe(Dated);
  same<Yield<typeof transformed>, { at: number }>(true);

  const nothing = flow
    .pipe(ExtractText)
    .parallel({ sentiment: Sentiment, keywords: { stage: Keywords, config: { top: 3 } } })
    .pipe(WriteReport)
    .pipe(Notify);
  same<Yield<typeof nothing>, void>(true);

  flow
    .pipe(ExtractText)
    .parallel({ sentiment: Sentiment, keywords: { stage: Keywords, config: { top: 3 } } })
    .pipe(WriteReport)
    .pipe(Small);
}

export function parallels() {
  const group = flow.pipe(ExtractText).parallel(
    {
      s: { stage: Sentiment, when: ({ input: given }) => given.words > 3 },
      k: { stage: Keywords, config: { top: 1 }, timeout: 500 },
      d: Detect,
    },
    { key: 'figures' },
  );
  same<
    Yield<typeof group>,
    { s: { score: number } | undefined; k: { words: string[] }; d: { language: string } | undefined }
  >(true);
}

export function contexts() {
  const extracted = context.require(ExtractText);
  same<typeof extracted, { text: string; words: number }>(true);
  const language = context.optional(Detect);
  same<typeof language, { language: string } | undefined>(true);
  const present = context.require(Detect);
  same<typeof present, { language: string }>(true);
  const byKey = context.require<{ a: 1 }>('key');
  same<typeof byKey, { a: 1 }>(true);
}

interface Page {
  url: string;
  title?: string;
  parts: readonly { text: string; tags: string[] }[];
  kind: 'html' | 'pdf' | null;
}

type Tree = { value: number; children: Tree[] };

export function stored() {
  same<Stored<Page>, Page>(true);
  same<Stored<string>, string>(true);
  same<Stored<boolean>, boolean>(true);
  same<Stored<void>, null>(true);
  same<Stored<undefined>, null>(true);
  same<Stored<Page | undefined>, Page | null>(true);
  same<Stored<string[]>, string[]>(true);
  same<Stored<readonly [number, 'a']>, readonly [number, 'a']>(true);
  same<Stored<Record<string, number>>, Record<string, number>>(true);
  same<Stored<{ a: string | undefined }>, { a: string | undefined }>(true);
  same<Stored<any>, any>(true);
  same<Stored<unknown>, unknown>(true);
  same<Stored<never>, never>(true);
  same<Stored<{ raw: unknown }>, { raw: unknown }>(true);
  same<Stored<Date>, NotStorable<Date>>(true);
  same<Stored<{ at: Date }>, { at: NotStorable<Date> }>(true);
  same<Stored<Map<string, number>>, NotStorable<Map<string, number>>>(true);
  same<Stored<bigint[]>, NotStorable<bigint>[]>(true);
  const tree = {} as Stored<Tree>;
  same<(typeof tree.children)[0]['value'], number>(true);
}

export async function steps() {
  const { step } = context;
  const page = await step.run('fetch', async ({ abortSignal, attempt, idempotencyKey }): Promise<Page> => {
    abortSignal.throwIfAborted();
    return { url: `${idempotencyKey}-${attempt}`, parts: [], kind: null };
  });
  same<typeof page, Page>(true);
  const two = await step.run('two', () => 2, { retry: { maxAttempts: 5, backoff: '1s' }, leaseFor: '10m' });
  same<typeof two, number>(true);
  const nothing = await step.run('tell', async () => {});
  same<typeof nothing, null>(true);
  const paid = await context.once('pay', async ({ idempotencyKey }) => ({ receipt: idempotencyKey }));
  same<typeof paid, { receipt: string }>(true);
  const seat = await context.transaction('book', async (manager: EntityManager) => {
    return { id: (await manager.query('SELECT 1')).length as number };
  });
  same<typeof seat, { id: number }>(true);
  const plain = await context.transaction('plain', (manager) => manager.query('SELECT 1') as Promise<string>, {
    retry: { maxAttempts: 2 },
  });
  same<typeof plain, string>(true);
  const when = await context.local(() => new Date());
  same<typeof when, Date>(true);

  const sizes = await step.all(
    'pages',
    [page],
    async (item, own, index) => {
      await own.sleep('pause', 1_000);
      return own.run('size', () => item.url.length + index);
    },
    { concurrency: 3 },
  );
  same<typeof sizes, number[]>(true);

  await step.sleep('a', '7 days');
  await step.sleepUntil('b', new Date());
  await step.sleepUntil('c', '2030-01-01T00:00:00Z');
  const [both, slept] = await Promise.all([step.run('d', () => 'x'), step.sleep('e', 5)]);
  same<[typeof both, typeof slept], [string, void]>(true);
}

export async function waits() {
  const { step } = context;
  const found = await step.waitFor('a', async () => (context.attempt > 1 ? { id: 'x' } : undefined), { every: '1m' });
  same<typeof found, { id: string }>(true);
  const ready = await step.waitFor('b', () => context.attempt > 1, { every: 500, timeout: '1 h', onTimeout: 'throw' });
  same<typeof ready, true>(true);
  const either = await step.waitFor('c', () => (context.attempt > 1 ? { id: 'x' } : null), {
    every: '1m',
    timeout: '1 h',
    onTimeout: 'return',
  });
  same<typeof either, { readonly timedOut: false; readonly value: { id: string } } | { readonly timedOut: true }>(true);
  if (!either.timedOut) same<typeof either.value, { id: string }>(true);

  const event = await step.waitForEvent('d', { key: 'payment', subject: { type: 'invoice', id: '7' } });
  same<typeof event, unknown>(true);
  const schema = z.object({ amount: z.number(), at: z.string().transform((text) => new Date(text)) });
  const typed = await step.waitForEvent('e', { key: 'payment', where: 'event.amount > 10', schema, timeout: '7 days' });
  same<typeof typed, { amount: number; at: Date }>(true);
  const late = await step.waitForEvent('f', { key: 'payment', schema, timeout: '7 days', onTimeout: 'return' });
  if (!late.timedOut) same<typeof late.value.at, Date>(true);

  const signal = await step.waitForSignal('g');
  same<typeof signal, unknown>(true);
  const small = await step.waitForSignal('h', { signal: 'approve', schema: mini.object({ ok: mini.boolean() }) });
  same<typeof small, { ok: boolean }>(true);
  const none = await step.waitForSignal('i', { timeout: 1_000, onTimeout: 'return' });
  if (!none.timedOut) same<typeof none.value, unknown>(true);
}

export async function children() {
  const { step } = context;
  const report = await step.runWorkflow('a', DocumentAnalysis, { url: 'https://x' });
  same<typeof report, { report: string }>(true);
  const waited = await step.runWorkflow('b', DocumentAnalysis, { url: 'https://x' }, { wait: true, priority: 2 });
  same<typeof waited, { report: string }>(true);
  const { runId } = await step.runWorkflow('c', DocumentAnalysis, { url: 'https://x' }, { wait: false, queue: 'slow' });
  same<typeof runId, string>(true);
  const byId = await step.runWorkflow('d', 'document-analysis', { any: 'thing' });
  same<typeof byId, unknown>(true);
}

export function suspensions() {
  same<OutputOf<typeof Render>, { pages: number }>(true);
  same<InputOf<typeof Render>, { report: string }>(true);
  flow
    .pipe(ExtractText)
    .parallel({ sentiment: Sentiment, keywords: { stage: Keywords, config: { top: 3 } } })
    .pipe(WriteReport)
    .pipe(Render);
}

export function notes() {
  context.log('a');
  context.log('b', 'warn');
  context.progress(1);
  context.progress(1, 10, 'pages');
  context.annotate('language', { code: 'en' });
  context.annotate('language', 'en', { scope: 'run' });
}

export const signalled: SignalOptions = { messageId: 'm' };
export const emitted: EmitEvent = { key: 'payment', payload: { amount: 1 }, subject: { type: 'invoice', id: '7' } };

export class Listener {
  @OnWorkflowEvent('run:failed')
  failed({ data, stage }: WorkflowEvent<'run:failed'>) {
    same<typeof data.code, string>(true);
    same<typeof stage, undefined>(true);
  }

  @OnWorkflowEvent(['stage:retrying', 'stage:failed'])
  troubled(event: WorkflowEvent<'stage:retrying' | 'stage:failed'>) {
    if (event.type === 'stage:retrying') same<typeof event.data.attempt, number>(true);
    same<typeof event.stage.runId, string>(true);
  }

  @OnWorkflowEvent('run:completed')
  anything(event: WorkflowEvent) {
    return event.id;
  }

  @OnWorkflowEvent('run:cancelled')
  nothing() {}
}

export const options: WorkflowModuleOptions = {
  worker: { concurrency: 20, pollInterval: '1s', queues: ['a'] },
  wake: { every: false },
  events: { retention: '7 days' },
  retry: { maxAttempts: 3, backoff: { base: '2s', factor: 2 }, maxAttemptsCap: 5 },
  owners: { resolve: (cls) => cls.get('teamId'), load: async (id) => ({ id }) },
  messages: { RUN_NOT_FOUND: 'Es gibt keinen Lauf {runId}.' },
};

export const aGraph: Graph = graph('a')
  .condition('c', 'input.ok', { true: 'ask', false: 'w', skipped: 'e' }, { when: 'input.amount > 5' })
  .approval('ask', { approvers: 'approvers.cfo', rule: { atLeast: 2 } }, { approved: 'w', rejected: 'e', expired: 'e' })
  .wait('w', { event: { key: '"paid"' }, timeout: '5 days' }, { done: 'p', timeout: 'e' })
  .stage('p', 'acme.pay', { config: { method: 'sepa' }, retry: { backoff: ['1s'] } })
  .end('e')
  .build();
export const drawn: string = toMermaid(aGraph);
