import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * The folder in which stages leave files for each other: `input/` holds the documents this sample makes, `text/` the
 * stripped texts, `reports/` one JSON file a document.
 *
 * A path depends on the document's id only, and every file appears by a rename. So a stage that runs twice (a crash
 * after the write and before the checkpoint) writes the same file again, and nobody ever reads half of one.
 */
export class WorkingFolder {
  readonly root: string;

  /** @param root absolute, or relative to the current directory */
  constructor(root: string) {
    this.root = resolve(root);
  }

  inputPath(fileName: string): string {
    return join(this.root, 'input', fileName);
  }

  textPath(documentId: string): string {
    return join(this.root, 'text', `${documentId}.txt`);
  }

  reportPath(documentId: string): string {
    return join(this.root, 'reports', `${documentId}.json`);
  }

  /** Writes `path` whole or not at all. `fill` gets a temporary path in the same folder, removed when it throws. */
  async publish<T>(path: string, fill: (temporaryPath: string) => Promise<T>): Promise<T> {
    await mkdir(dirname(path), { recursive: true });
    const temporaryPath = `${path}.${randomUUID()}.part`;
    try {
      const result = await fill(temporaryPath);
      await rename(temporaryPath, path);
      return result;
    } catch (error) {
      await rm(temporaryPath, { force: true });
      throw error;
    }
  }

  async publishText(path: string, text: string): Promise<void> {
    await this.publish(path, (temporaryPath) => writeFile(temporaryPath, text, 'utf8'));
  }
}
