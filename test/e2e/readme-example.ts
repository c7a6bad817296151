import { Stage, Workflow } from 'nestjs-workflow-engine';
import type { Flow, StageContext, StageHandler, WorkflowBlueprint } from 'nestjs-workflow-engine';
import { z } from 'zod';

const extract = { input: z.object({ url: z.url() }), output: z.object({ text: z.string() }) };

@Stage({ id: 'extract-text', ...extract, retry: { maxAttempts: 5, backoff: ['10s', '1m'] } })
export class ExtractText implements StageHandler<typeof extract> {
  async execute(ctx: StageContext<typeof extract>) {
    const page = await fetch(ctx.input.url, { signal: ctx.abortSignal });
    return { text: await page.text() };
  }
}

const count = { input: extract.output, output: z.object({ words: z.number() }) };

@Stage({ id: 'count-words', ...count })
export class CountWords implements StageHandler<typeof count> {
  execute(ctx: StageContext<typeof count>) {
    return { words: ctx.input.text.split(/\s+/).length };
  }
}

@Workflow({ id: 'document-analysis', version: 1, input: extract.input })
export class DocumentAnalysis implements WorkflowBlueprint<typeof extract.input> {
  define(flow: Flow<typeof extract.input>) {
    return flow.pipe(ExtractText).pipe(CountWords); // a stage that doesn't fit the one before does not compile
  }
}
