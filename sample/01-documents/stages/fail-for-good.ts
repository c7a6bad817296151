import { StageFailedError } from 'nestjs-workflow-engine';
import { DocumentFailure } from '../documents/document-failure.js';

/** Runs `work`, and makes of a document's own fault a failure with its code that is never retried by itself. */
export async function failForGood<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DocumentFailure)) throw error;
    throw new StageFailedError(error.code, error.message, { cause: error.cause });
  }
}
