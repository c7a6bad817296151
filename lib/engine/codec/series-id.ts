import { digest } from './digest.js';
import type { GraphName } from '../ports/graph-store.js';

/** An id (UUID, version 8) that the same graph always has: what is told of one is delivered in order by it. */
export function seriesId({ ownerId, definitionId }: GraphName): string {
  const hex = digest(['graph', ownerId, definitionId]).toString('hex');
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
