import { readFile } from 'node:fs/promises';
import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { measureText, textStatisticsSchema } from '../analysis/text-statistics.js';
import { Hiccups } from '../faults/hiccups.js';
import { Pace } from '../faults/pace.js';
import { readOutputSchema } from './read-document.stage.js';

const schemas = {
  input: readOutputSchema,
  output: z.object({ statistics: textStatisticsSchema, workMs: z.number() }),
  config: z.object({
    keywords: z.number().int().nonnegative().default(8),
    wordsPerMinute: z.number().positive().default(200),
  }),
};

/** Keywords and reading figures. It fails now and then, on purpose, and is tried again. */
@Stage({ id: 'statistics', ...schemas, retry: { maxAttempts: 5, backoff: ['250ms', '500ms', '1s'] } })
export class MeasureText implements StageHandler<typeof schemas> {
  constructor(
    private readonly hiccups: Hiccups,
    private readonly pace: Pace,
  ) {}

  async execute(ctx: StageContext<typeof schemas>) {
    await this.pace.wait(ctx.abortSignal);
    const started = performance.now();
    const { document, reading } = ctx.input;
    this.hiccups.mayStrike(document.id, ctx.attempt);
    const text = await readFile(reading.textPath, { encoding: 'utf8', signal: ctx.abortSignal });
    const options = { ...ctx.config, language: document.declaredLanguage, signal: ctx.abortSignal };
    const statistics = await measureText(text, options);
    return { statistics, workMs: performance.now() - started };
  }
}
