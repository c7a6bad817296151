import { open, readFile, stat } from 'node:fs/promises';
import type { SampleDocument } from './document.js';
import type { WorkingFolder } from './working-folder.js';

/** Size of the very large document, in bytes: far more than a stage should hold in memory or read to the end. */
export const VERY_LARGE_BYTES = 48 * 1024 * 1024;

type ExtraDocument = Omit<SampleDocument, 'path'> & { readonly fileName: string };

export const EXTRA_DOCUMENTS: readonly ExtraDocument[] = [
  { id: 'extra-empty', kind: 'empty', name: 'An empty file', declaredLanguage: 'und', fileName: 'empty.html' },
  {
    id: 'extra-not-utf8',
    kind: 'not-utf8',
    name: 'French, saved as Latin-1',
    declaredLanguage: 'fr',
    fileName: 'not-utf8.html',
  },
  {
    id: 'extra-very-large',
    kind: 'very-large',
    name: 'English, over and over',
    declaredLanguage: 'en',
    fileName: 'very-large.html',
  },
];

/** Makes the three documents that no pipeline likes: an empty one, one in another encoding, and a very large one. */
export class ExtraDocuments {
  constructor(private readonly folder: WorkingFolder) {}

  path(fileName: string): string {
    return this.folder.inputPath(fileName);
  }

  /** Writes what is not there yet. Texts are taken from two declarations, so that nothing is made up. */
  async make(sources: { french: string; english: string }, veryLargeBytes: number = VERY_LARGE_BYTES): Promise<void> {
    await this.folder.publishText(this.path('empty.html'), '');

    // Each é is the single byte E9 in Latin-1, which no UTF-8 text can contain before a plain letter.
    const french = Buffer.from(await readFile(sources.french, 'utf8'), 'latin1');
    await this.folder.publish(this.path('not-utf8.html'), (path) => writeBytes(path, french, 1));

    const largePath = this.path('very-large.html');
    const english = await readFile(sources.english);
    const copies = Math.ceil(veryLargeBytes / english.byteLength);
    const existing = await stat(largePath).catch(() => undefined);
    if (existing?.size !== copies * english.byteLength) {
      await this.folder.publish(largePath, (path) => writeBytes(path, english, copies));
    }
  }
}

async function writeBytes(path: string, bytes: Buffer, copies: number): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (let copy = 0; copy < copies; copy += 1) await file.write(bytes);
  } finally {
    await file.close();
  }
}
