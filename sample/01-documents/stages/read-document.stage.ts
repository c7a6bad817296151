import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { DocumentLibrary } from '../documents/document-library.js';
import { documentSchema } from '../documents/document.js';
import { Pace } from '../faults/pace.js';
import { DocumentReader, readingSchema } from '../reading/document-reader.js';
import { failForGood } from './fail-for-good.js';

const schemas = {
  input: z.object({ documentId: z.string() }),
  output: z.object({ document: documentSchema, reading: readingSchema, workMs: z.number() }),
  /** In UTF-16 code units of text; what follows is not read. */
  config: z.object({ maxTextLength: z.number().int().positive().default(1_000_000) }),
};

/** Finds the document, strips its markup, and hands on where the text lies. */
@Stage({ id: 'read', ...schemas })
export class ReadDocument implements StageHandler<typeof schemas> {
  constructor(
    private readonly library: DocumentLibrary,
    private readonly reader: DocumentReader,
    private readonly pace: Pace,
  ) {}

  async execute(ctx: StageContext<typeof schemas>) {
    await this.pace.wait(ctx.abortSignal);
    const started = performance.now();
    return failForGood(async () => {
      const document = this.library.get(ctx.input.documentId);
      const options = { maxTextLength: ctx.config.maxTextLength, signal: ctx.abortSignal };
      const reading = await this.reader.read(document, options);
      return { document, reading, workMs: performance.now() - started };
    });
  }
}

/** What the stages beside each other take: of all that was read, the two things they need. */
export const readOutputSchema = schemas.output.pick({ document: true, reading: true });
