import { readFile } from 'node:fs/promises';
import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { declaredScript } from '../analysis/declared-language.js';
import { ScriptDetector, scriptFindingSchema } from '../analysis/script-detector.js';
import { Pace } from '../faults/pace.js';
import { readOutputSchema } from './read-document.stage.js';

const schemas = {
  input: readOutputSchema,
  output: z.object({ finding: scriptFindingSchema, expected: z.string().nullable(), workMs: z.number() }),
};

@Stage({ id: 'script', ...schemas })
export class DetectScript implements StageHandler<typeof schemas> {
  constructor(
    private readonly detector: ScriptDetector,
    private readonly pace: Pace,
  ) {}

  async execute(ctx: StageContext<typeof schemas>) {
    await this.pace.wait(ctx.abortSignal);
    const started = performance.now();
    const { document, reading } = ctx.input;
    const text = await readFile(reading.textPath, { encoding: 'utf8', signal: ctx.abortSignal });
    const finding = this.detector.detect(text);
    const expected = declaredScript(document.declaredLanguage) ?? null;
    return { finding, expected, workMs: performance.now() - started };
  }
}
