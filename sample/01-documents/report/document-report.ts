import { z } from 'zod';
import { languageFindingSchema } from '../analysis/language-detector.js';
import { scriptFindingSchema } from '../analysis/script-detector.js';
import { textStatisticsSchema } from '../analysis/text-statistics.js';
import { documentSchema } from '../documents/document.js';
import { readingSchema } from '../reading/document-reader.js';

/** All that was found out about one document; the last stage writes it to the working folder as JSON. */
export const documentReportSchema = z.object({
  document: documentSchema,
  reading: readingSchema,
  language: languageFindingSchema,
  /** `expected` is the script of the declared language; null when the language is unknown. */
  script: scriptFindingSchema.extend({ expected: z.string().nullable() }),
  statistics: textStatisticsSchema,
  /** Time that stage bodies took, in milliseconds, waits and retries left out. */
  workMs: z.number(),
});
export type DocumentReport = z.infer<typeof documentReportSchema>;

/** How a document's run ended, or that it has not ended yet. */
export type DocumentOutcome =
  | { readonly status: 'COMPLETED'; readonly report: DocumentReport; readonly retries: number }
  | {
      readonly status: 'FAILED' | 'CANCELLED' | 'UNFINISHED';
      readonly documentId: string;
      readonly retries: number;
      readonly code?: string;
      readonly message?: string;
    };
