import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { DocumentFailure } from '../documents/document-failure.js';
import type { SampleDocument } from '../documents/document.js';
import type { WorkingFolder } from '../documents/working-folder.js';
import { HtmlText } from './html-text.js';

export const readingSchema = z.object({
  textPath: z.string(),
  /** Size of the file, in bytes. */
  bytes: z.number().int(),
  /** How far it was read; less than `bytes` only when `truncated`. */
  bytesRead: z.number().int(),
  /** Size of the stripped text, in UTF-16 code units. */
  textLength: z.number().int(),
  /** The text had more than `maxTextLength`; what follows was not read. */
  truncated: z.boolean(),
});
export type Reading = z.infer<typeof readingSchema>;

export interface ReadOptions {
  /** Where to stop, in UTF-16 code units of stripped text. */
  readonly maxTextLength: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads a document as a stream, strips its markup and leaves the text in the working folder.
 *
 * The file may be larger than memory: what is held at once is one piece of it (see {@link HtmlText}). A document that is
 * empty (or has markup and no text) or is not UTF-8 is refused, and then no text file appears.
 */
export class DocumentReader {
  constructor(private readonly folder: WorkingFolder) {}

  /** @throws DocumentFailure EMPTY_DOCUMENT, NOT_UTF8; the file system's own error when it can't be read */
  async read(document: SampleDocument, { maxTextLength, signal }: ReadOptions): Promise<Reading> {
    const { size: bytes } = await stat(document.path);
    const textPath = this.folder.textPath(document.id);
    const figures = await this.folder.publish(textPath, async (path) => {
      const strip = await this.strip(document, path, maxTextLength, signal);
      if (strip.textLength === 0) throw emptyDocument(document, bytes);
      return strip;
    });
    return { textPath, bytes, ...figures };
  }

  private async strip(document: SampleDocument, target: string, maxTextLength: number, signal?: AbortSignal) {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const html = new HtmlText();
    const file = await open(target, 'w');
    const figures = { bytesRead: 0, textLength: 0, truncated: false };
    const keep = async (text: string): Promise<void> => {
      const room = maxTextLength - figures.textLength;
      const kept = text.length > room ? cutBetweenCharacters(text, room) : text;
      figures.truncated = kept.length < text.length;
      figures.textLength += kept.length;
      if (kept) await file.write(kept);
    };
    try {
      for await (const piece of createReadStream(document.path, { signal }) as AsyncIterable<Buffer>) {
        await keep(html.write(decode(decoder, piece, document, figures.bytesRead)));
        figures.bytesRead += piece.byteLength;
        if (figures.truncated) return figures;
      }
      await keep(html.write(decode(decoder, undefined, document, figures.bytesRead)) + html.end());
      return figures;
    } finally {
      await file.close();
    }
  }
}

function decode(
  decoder: InstanceType<typeof TextDecoder>,
  piece: Buffer | undefined,
  document: SampleDocument,
  offset: number,
): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch (cause) {
    const where = piece ? `between bytes ${offset} and ${offset + piece.byteLength}` : 'at its end';
    const message = `"${document.name}" (${document.path}) is not UTF-8: a wrong byte lies ${where}. Save it as UTF-8.`;
    throw new DocumentFailure('NOT_UTF8', message, { cause });
  }
}

function emptyDocument(document: SampleDocument, bytes: number): DocumentFailure {
  const what = bytes === 0 ? 'holds no bytes' : `has ${bytes} bytes of markup and no text`;
  return new DocumentFailure('EMPTY_DOCUMENT', `"${document.name}" (${document.path}) ${what}.`);
}

/** The first `length` code units, one less where that would cut a surrogate pair in two. */
function cutBetweenCharacters(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
