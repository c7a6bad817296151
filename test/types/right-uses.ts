import { OnWorkflowEvent } from '../../lib/decorators/index.js';
import type { Flow, OutputOf, StageContext, WorkflowEvent, WorkflowModuleOptions } from '../../lib/interfaces/index.js';
import type { TypedCalls } from './service.js';
import {
  Dated,
  Detect,
  DocumentAnalysis,
  ExtractText,
  Keywords,
  Notify,
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
  retry: { maxAttempts: 3, backoff: { base: '2s', factor: 2 }, maxAttemptsCap: 5 },
  owners: { resolve: (cls) => cls.get('teamId'), load: async (id) => ({ id }) },
  messages: { RUN_NOT_FOUND: 'Es gibt keinen Lauf {runId}.' },
};
