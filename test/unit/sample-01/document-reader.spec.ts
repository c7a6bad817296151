import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SampleDocument } from '../../../sample/01-documents/documents/document.js';
import { WorkingFolder } from '../../../sample/01-documents/documents/working-folder.js';
import { DocumentReader } from '../../../sample/01-documents/reading/document-reader.js';

describe('DocumentReader', () => {
  let root: string;
  let folder: WorkingFolder;
  let reader: DocumentReader;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'sample-01-'));
    folder = new WorkingFolder(root);
    reader = new DocumentReader(folder);
  });
  afterAll(() => rm(root, { recursive: true }));

  async function documentOf(id: string, content: string | Buffer): Promise<SampleDocument> {
    const path = join(root, `${id}.html`);
    await writeFile(path, content);
    return { id, kind: 'declaration', name: id, path, declaredLanguage: 'en' };
  }
  const filesOfTexts = (): Promise<string[]> => readdir(dirname(folder.textPath('x'))).catch(() => []);

  it('leaves the stripped text in the working folder and answers with its path and figures', async () => {
    const document = await documentOf('plain', '<h1>A</h1><p>Ünïcode 𞤀</p>');
    const reading = await reader.read(document, { maxTextLength: 1_000 });
    expect(reading).toEqual({
      textPath: folder.textPath('plain'),
      bytes: 31,
      bytesRead: 31,
      textLength: 12,
      truncated: false,
    });
    expect(await readFile(reading.textPath, 'utf8')).toBe('A\nÜnïcode 𞤀');
  });

  it('decodes a character that two pieces of the file share', async () => {
    const text = 'x'.repeat(65_535) + 'é' + 'y'.repeat(70_000);
    const reading = await reader.read(await documentOf('split', text), { maxTextLength: 1_000_000 });
    expect(await readFile(reading.textPath, 'utf8')).toBe(text);
  });

  it.each([
    ['no bytes', ''],
    ['markup only', '<html><head><title>T</title></head><body> </body></html>'],
  ])('refuses a document with %s as EMPTY_DOCUMENT, and leaves no file', async (name, content) => {
    const document = await documentOf(`empty-${name.replace(' ', '-')}`, content);
    await expect(reader.read(document, { maxTextLength: 100 })).rejects.toMatchObject({ code: 'EMPTY_DOCUMENT' });
    expect((await filesOfTexts()).filter((file) => file.startsWith('empty'))).toEqual([]);
  });

  it.each([
    ['in the middle', Buffer.from('<p>liberté</p>', 'latin1')],
    ['at the end', Buffer.from([0x61, 0xc3])],
    ['as a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ])('refuses a wrong byte %s as NOT_UTF8, and leaves no file', async (name, content) => {
    const document = await documentOf(`broken-${name.replaceAll(' ', '-')}`, content);
    await expect(reader.read(document, { maxTextLength: 100 })).rejects.toMatchObject({ code: 'NOT_UTF8' });
    expect((await filesOfTexts()).filter((file) => file.startsWith('broken'))).toEqual([]);
  });

  it('stops reading a very large document at the limit, between two characters', async () => {
    const document = await documentOf('large', '𞤀'.repeat(500_000));
    const reading = await reader.read(document, { maxTextLength: 1_001 });
    expect(reading).toMatchObject({ bytes: 2_000_000, textLength: 1_000, truncated: true });
    expect(reading.bytesRead).toBeLessThan(200_000);
    expect(await readFile(reading.textPath, 'utf8')).toBe('𞤀'.repeat(500));
  });

  it('stops when its signal aborts, and leaves no file', async () => {
    const document = await documentOf('aborted', 'text');
    const read = reader.read(document, { maxTextLength: 100, signal: AbortSignal.abort() });
    await expect(read).rejects.toMatchObject({ name: 'AbortError' });
    expect((await filesOfTexts()).filter((file) => file.startsWith('aborted'))).toEqual([]);
  });

  it('writes the same file again when it reads a document twice', async () => {
    const document = await documentOf('twice', '<p>same</p>');
    const first = await reader.read(document, { maxTextLength: 100 });
    expect(await reader.read(document, { maxTextLength: 100 })).toEqual(first);
    expect((await filesOfTexts()).filter((file) => file.startsWith('twice'))).toEqual(['twice.txt']);
  });
});
