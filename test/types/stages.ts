import { z } from 'zod';
import * as mini from 'zod/mini';
import { Stage } from '../../lib/decorators/index.js';
import { Workflow } from '../../lib/decorators/index.js';
import type {
  CompletionCheck,
  Flow,
  StageContext,
  StageHandler,
  WorkflowBlueprint,
} from '../../lib/interfaces/index.js';

/** Classes that both the right and the wrong uses are made of. */
export class Pages {
  fetch(url: string): Promise<string> {
    return Promise.resolve(url);
  }
}

const extract = {
  input: z.object({ url: z.url() }),
  output: z.object({ text: z.string(), words: z.number().int() }),
  config: z.object({ maxLength: z.number().default(50_000) }),
};

@Stage({ id: 'extract-text', ...extract, retry: { maxAttempts: 5, backoff: ['10s'] }, timeout: '5m', queue: 'web' })
export class ExtractText implements StageHandler<typeof extract> {
  constructor(private readonly pages: Pages) {}

  async execute(ctx: StageContext<typeof extract>) {
    const html = await this.pages.fetch(ctx.input.url);
    return { text: html.slice(0, ctx.config.maxLength), words: 1 };
  }

  async cancel(ctx: StageContext<typeof extract>) {
    ctx.log(`cancelled ${ctx.input.url}`);
  }
}

export const senti = { input: z.object({ text: z.string() }), output: z.object({ score: z.number() }) };

@Stage({ id: 'sentiment', ...senti })
export class Sentiment implements StageHandler<typeof senti> {
  execute(ctx: StageContext<typeof senti>) {
    return { score: ctx.input.text.length };
  }
}

const keyw = {
  input: z.object({ text: z.string() }),
  output: z.object({ words: z.array(z.string()) }),
  config: z.object({ top: z.number() }),
};

@Stage({ id: 'keywords', ...keyw })
export class Keywords implements StageHandler<typeof keyw> {
  async execute(ctx: StageContext<typeof keyw>) {
    return { words: [String(ctx.config.top)] };
  }
}

const report = {
  input: z.object({ sentiment: z.object({ score: z.number() }), keywords: z.object({ words: z.array(z.string()) }) }),
  output: z.object({ report: z.string() }),
};

@Stage({ id: 'report', ...report })
export class WriteReport implements StageHandler<typeof report> {
  execute(ctx: StageContext<typeof report>) {
    return { report: ctx.require(ExtractText).text };
  }
}

export const plain = { input: z.object({ report: z.string() }) };

@Stage({ id: 'notify', ...plain })
export class Notify implements StageHandler<typeof plain> {
  async execute(_ctx: StageContext<typeof plain>) {}
}

const maybe = { input: z.object({ text: z.string() }), output: z.object({ language: z.string() }) };

@Stage({ id: 'detect', ...maybe })
export class Detect implements StageHandler<typeof maybe> {
  async execute(ctx: StageContext<typeof maybe>) {
    if (ctx.input.text === '') return ctx.skip('no text');
    return { language: 'en' };
  }
}

const small = { input: mini.object({ report: mini.string() }), output: mini.object({ ok: mini.boolean() }) };

@Stage({ id: 'small', ...small })
export class Small implements StageHandler<typeof small> {
  execute(ctx: StageContext<typeof small>) {
    return { ok: ctx.input.report !== '' };
  }
}

const dated = { output: z.object({ at: z.string().transform((text) => new Date(text).getTime()) }) };

/** Returns the input side of its output schema; followers see what that made of it. */
@Stage({ id: 'dated', ...dated })
export class Dated implements StageHandler<typeof dated> {
  execute(_ctx: StageContext<typeof dated>) {
    return { at: '2026-01-01' };
  }
}

const rendered = { input: z.object({ report: z.string() }), output: z.object({ pages: z.number() }) };

/** Its work goes on elsewhere; now and then there is none. */
@Stage({ id: 'render', ...rendered })
export class Render implements StageHandler<typeof rendered> {
  async execute(ctx: StageContext<typeof rendered>) {
    if (ctx.input.report === '') return { pages: 0 };
    return ctx.suspend({ every: '1m', maxWait: '1 h', state: { jobId: 'j' } });
  }

  async checkCompletion(
    state: { jobId: string },
    _ctx: StageContext<typeof rendered>,
  ): Promise<CompletionCheck<{ pages: number }>> {
    if (state.jobId === '') return { status: 'failed', code: 'RENDER_FAILED', message: 'no job' };
    return state.jobId === 'j' ? { status: 'ready', output: { pages: 1 } } : { status: 'pending', next: '5m', state };
  }
}

export const input = z.object({ url: z.url(), tags: z.array(z.string()).default([]) });

@Workflow({ id: 'document-analysis', version: 1, input, limits: { maxStageRuns: 50 }, deadline: '2 h' })
export class DocumentAnalysis implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow
      .pipe(ExtractText, { config: { maxLength: 20_000 } })
      .parallel({ sentiment: Sentiment, keywords: { stage: Keywords, config: { top: 3 } } })
      .pipe(WriteReport);
  }
}
