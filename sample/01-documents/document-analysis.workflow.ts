import { Workflow, type Flow, type WorkflowBlueprint } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { DetectLanguage } from './stages/detect-language.stage.js';
import { DetectScript } from './stages/detect-script.stage.js';
import { MeasureText } from './stages/measure-text.stage.js';
import { ReadDocument } from './stages/read-document.stage.js';
import { WriteReport } from './stages/write-report.stage.js';

const input = z.object({ documentId: z.string() });

/** One run analyses one document: read it, look at its text in three ways at once, write the report. */
@Workflow({ id: 'document-analysis', version: 1, input })
export class DocumentAnalysis implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow
      .pipe(ReadDocument)
      .parallel({ language: DetectLanguage, script: DetectScript, statistics: MeasureText })
      .pipe(WriteReport);
  }
}

/** The stages in the order in which a document meets them, for people who watch. */
export const STAGE_IDS = ['read', 'language', 'script', 'statistics', 'report'] as const;
