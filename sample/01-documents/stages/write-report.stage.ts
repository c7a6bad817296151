import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { languageFindingSchema } from '../analysis/language-detector.js';
import { scriptFindingSchema } from '../analysis/script-detector.js';
import { textStatisticsSchema } from '../analysis/text-statistics.js';
import { WorkingFolder } from '../documents/working-folder.js';
import { Pace } from '../faults/pace.js';
import { documentReportSchema, type DocumentReport } from '../report/document-report.js';
import { ReadDocument } from './read-document.stage.js';

const schemas = {
  input: z.object({
    language: z.object({ finding: languageFindingSchema, workMs: z.number() }),
    script: z.object({ finding: scriptFindingSchema, expected: z.string().nullable(), workMs: z.number() }),
    statistics: z.object({ statistics: textStatisticsSchema, workMs: z.number() }),
  }),
  output: documentReportSchema,
};

/** Joins what the stages beside each other found out, and leaves it as a file too. */
@Stage({ id: 'report', ...schemas })
export class WriteReport implements StageHandler<typeof schemas> {
  constructor(
    private readonly folder: WorkingFolder,
    private readonly pace: Pace,
  ) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<DocumentReport> {
    await this.pace.wait(ctx.abortSignal);
    const started = performance.now();
    const { language, script, statistics } = ctx.input;
    const { document, reading, workMs: readingMs } = ctx.require(ReadDocument);
    const analysisMs = language.workMs + script.workMs + statistics.workMs;
    const report: DocumentReport = {
      document,
      reading,
      language: language.finding,
      script: { ...script.finding, expected: script.expected },
      statistics: statistics.statistics,
      workMs: readingMs + analysisMs + performance.now() - started,
    };
    await this.folder.publishText(this.folder.reportPath(document.id), `${JSON.stringify(report, null, 2)}\n`);
    return report;
  }
}
