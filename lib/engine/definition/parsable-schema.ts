import type { SchemaIssue } from '../../errors/index.js';

/**
 * What the engine needs of a schema. Told by its shape, not by `instanceof`: the host's copy of zod need not be ours, and
 * `zod/mini` is as good (fault H13).
 */
export interface ParsableSchema {
  safeParseAsync(value: unknown): Promise<ParseResult>;
}

export type ParseResult =
  | { readonly success: true; readonly data: unknown; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly SchemaIssue[] } };

export function isParsableSchema(value: unknown): value is ParsableSchema {
  return typeof value === 'object' && value !== null && typeof (value as ParsableSchema).safeParseAsync === 'function';
}
