import type { SubjectName } from '../../engine/ports/index.js';

/** What loading a subject within an owner came to. */
export type LoadedSubject =
  | { readonly kind: 'found'; readonly subject: object }
  | { readonly kind: 'missing' }
  /** It exists, and belongs to another owner. Nobody outside may be told which of the two it was. */
  | { readonly kind: 'anothers' };

/** Loads what runs are about (OWNER-3). */
export interface SubjectSource {
  /**
   * Within the owner's context. Rejects with what the host's resolver throws. Undefined: nobody loads subjects of this type, which
   * is a name only then.
   */
  load(subject: SubjectName, ownerId: string | null): Promise<LoadedSubject> | undefined;
  /** What expressions may read of one that was loaded. @default all of it */
  readable?(name: SubjectName, subject: object): unknown;
}
