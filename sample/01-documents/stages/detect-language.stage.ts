import { readFile } from 'node:fs/promises';
import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { LanguageDetector, languageFindingSchema } from '../analysis/language-detector.js';
import { Pace } from '../faults/pace.js';
import { readOutputSchema } from './read-document.stage.js';

const schemas = { input: readOutputSchema, output: z.object({ finding: languageFindingSchema, workMs: z.number() }) };

@Stage({ id: 'language', ...schemas })
export class DetectLanguage implements StageHandler<typeof schemas> {
  constructor(
    private readonly detector: LanguageDetector,
    private readonly pace: Pace,
  ) {}

  async execute(ctx: StageContext<typeof schemas>) {
    await this.pace.wait(ctx.abortSignal);
    const started = performance.now();
    const { document, reading } = ctx.input;
    const text = await readFile(reading.textPath, { encoding: 'utf8', signal: ctx.abortSignal });
    const finding = this.detector.detect(text, document.declaredLanguage);
    return { finding, workMs: performance.now() - started };
  }
}
