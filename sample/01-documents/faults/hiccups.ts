import { createHash } from 'node:crypto';

/** What a stage of this sample throws now and then, in place of a network or a disk that fails for a moment. */
export class HiccupError extends Error {
  override readonly name = 'HiccupError';
}

/**
 * Makes a stage fail now and then, so that retries can be watched.
 *
 * Which attempts fail follows from the document's id and the attempt's number alone. So the same documents stumble on
 * every machine, also after a restart, and a document that stumbles once mostly succeeds at its next attempt.
 */
export class Hiccups {
  /** @param rate the share of attempts that fail, 0 to 1 */
  constructor(private readonly rate: number) {}

  strikes(documentId: string, attempt: number): boolean {
    const digest = createHash('sha256').update(`${documentId}\n${attempt}`).digest();
    return digest.readUInt32BE(0) / 2 ** 32 < this.rate;
  }

  /** @throws HiccupError */
  mayStrike(documentId: string, attempt: number): void {
    if (this.strikes(documentId, attempt)) {
      throw new HiccupError(`A hiccup at attempt ${attempt} on "${documentId}"; the next attempt may succeed.`);
    }
  }
}
