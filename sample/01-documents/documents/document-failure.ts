/** What can be wrong with a document itself. Trying again can't help, so a stage fails for good with this code. */
export type DocumentFailureCode = 'EMPTY_DOCUMENT' | 'NOT_UTF8' | 'NO_SUCH_DOCUMENT';

/** Thrown by the sample's services when the document, not the machine, is the reason. */
export class DocumentFailure extends Error {
  override readonly name = 'DocumentFailure';

  constructor(
    readonly code: DocumentFailureCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
